// Lowering of a run of a million minibatches.
#include <gtest/gtest.h>

#include "schedule/lower_testing.h"

namespace pipedream::schedule {
namespace {

TEST(SlowLower, AMillionMinibatchesNeedNoMoreMemoryThanAThousand) { expect_steady(1'000'000); }

}  // namespace
}  // namespace pipedream::schedule
