#include "train/averaging_time.h"

#include <gtest/gtest.h>

namespace pipedream::train {
namespace {

TEST(AveragingTime, IsThatOfAsManyBytesAsAreAsked) {
  for (const int replicas : {2, 3, 5})
    for (const std::int64_t bytes : {1, 4, 4000, 3 << 20})
      for (const bool with_sums : {false, true})
        EXPECT_GT(averaging_time({Bytes{bytes}, replicas, 1, with_sums}), Nanos(0));
}

// Only so much is really averaged.
TEST(AveragingTime, GrowsWithWhatIsTooLargeToMeasure) {
  constexpr Bytes kMeasured{std::int64_t{64} << 20};
  const Nanos measured = averaging_time({.gradients = kMeasured});
  const Nanos large = averaging_time({.gradients = Bytes{kMeasured.count * 1000}});
  EXPECT_GT(large, 100 * measured);
}

}  // namespace
}  // namespace pipedream::train
