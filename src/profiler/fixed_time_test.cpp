#include "profiler/fixed_time.h"

#include <gtest/gtest.h>

namespace pipedream::profiler {
namespace {

// 100 and 10 for each of 64 samples.
TEST(FixedTime, IsWhatIsLeftWithoutSamples) {
  EXPECT_EQ(fixed_time(Nanos(740), Nanos(180), 8.0 / 64), Nanos(100));
  EXPECT_EQ(fixed_time(Nanos(740), Nanos(110), 1.0 / 64), Nanos(100));
  EXPECT_EQ(fixed_time(Nanos(740), Nanos(420), 0.5), Nanos(100));
}

TEST(FixedTime, OfAPartThatTakesItsShareIsNothing) {
  EXPECT_EQ(fixed_time(Nanos(800), Nanos(100), 0.125), Nanos(0));
  EXPECT_EQ(fixed_time(Nanos(0), Nanos(0), 0.125), Nanos(0));
}

TEST(FixedTime, OfAPartThatTakesAsLongAsTheWholeIsAllOfIt) {
  EXPECT_EQ(fixed_time(Nanos(800), Nanos(800), 0.125), Nanos(800));
}

TEST(FixedTime, StaysWithinTheWholeWhateverWasMeasured) {
  EXPECT_EQ(fixed_time(Nanos(800), Nanos(50), 0.125), Nanos(0)) << "less than its share";
  EXPECT_EQ(fixed_time(Nanos(800), Nanos(5000), 0.125), Nanos(800)) << "more than the whole";
}

}  // namespace
}  // namespace pipedream::profiler
