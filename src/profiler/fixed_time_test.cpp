#include "profiler/fixed_time.h"

#include <gtest/gtest.h>

namespace pipedream::profiler {
namespace {

// A pass takes 100 ns, plus 10 ns for each of 64 samples.
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

TEST(FixedBytes, AreWhatIsLeftWithoutSamples) {
  EXPECT_EQ(fixed_bytes(Bytes{740}, Bytes{180}, 8.0 / 64), Bytes{100});
  EXPECT_EQ(fixed_bytes(Bytes{800}, Bytes{50}, 0.125), Bytes{0});
  EXPECT_EQ(fixed_bytes(Bytes{800}, Bytes{900}, 0.125), Bytes{800});
  EXPECT_EQ(fixed_bytes(Bytes{0}, Bytes{0}, 0.125), Bytes{0});
}

using Times = std::vector<Nanos>;

TEST(FixedTimes, AreThoseOfEachLayer) {
  EXPECT_EQ(
      fixed_times({Nanos(740), Nanos(800), Nanos(0)}, {Nanos(180), Nanos(100), Nanos(0)}, 0.125),
      (Times{Nanos(100), Nanos(0), Nanos(0)}));
  EXPECT_EQ(fixed_times({}, {}, 0.125), Times{});
}

// By noise, the first layer's part takes 50 ns more than its share and the second layer's 50 ns
// less.
TEST(FixedTimes, OfNoiseAreNothing) {
  EXPECT_EQ(fixed_times({Nanos(800), Nanos(800)}, {Nanos(150), Nanos(50)}, 0.125),
            (Times{Nanos(0), Nanos(0)}));
}

TEST(FixedTimes, AddUpToThatOfAllLayers) {
  const Times fixed = fixed_times({Nanos(7400), Nanos(8000)}, {Nanos(1800), Nanos(800)}, 0.125);
  EXPECT_EQ(fixed, (Times{fixed_time(Nanos(15400), Nanos(2600), 0.125), Nanos(0)}));
}

}  // namespace
}  // namespace pipedream::profiler
