#include "cost/compute.h"

#include <gtest/gtest.h>

namespace pipedream::cost {
namespace {

TEST(StageTime, SumsTheLayersOfTheStage) {
  profile::Profile profile;
  profile.costs = {{.forward = Nanos(1), .backward = Nanos(10)},
                   {.forward = Nanos(200), .backward = Nanos(3000)},
                   {.forward = Nanos(40'000), .backward = Nanos(500'000)}};
  const StageTime time = stage_time(profile, {LayerId{0}, LayerId{2}});
  EXPECT_EQ(time.forward, Nanos(40'001));
  EXPECT_EQ(time.backward, Nanos(500'010));
}

TEST(StageTime, OfNoLayersIsZero) {
  const StageTime time = stage_time({}, {});
  EXPECT_EQ(time.forward, Nanos(0));
  EXPECT_EQ(time.backward, Nanos(0));
}

}  // namespace
}  // namespace pipedream::cost
