#include "report/time_axis.h"

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

using namespace std::chrono_literals;

std::string text_of(const Axis& axis) {
  std::string text = axis.unit + ":";
  for (const Tick& tick : axis.ticks) text += " " + tick.label;
  return text;
}

TEST(AxisOf, HasRoundStepsInTheFittingUnit) {
  EXPECT_EQ(text_of(axis_of(0ns, 45ms, 10)), "ms: 0 5 10 15 20 25 30 35 40 45");
  EXPECT_EQ(text_of(axis_of(0ns, 45ms, 5)), "ms: 0 10 20 30 40");
  EXPECT_EQ(text_of(axis_of(0ns, 45ms, 3)), "ms: 0 20 40");
  EXPECT_EQ(text_of(axis_of(0ns, 700us, 4)), "ms: 0.0 0.2 0.4 0.6");
  EXPECT_EQ(text_of(axis_of(0ns, 70us, 4)), "µs: 0 20 40 60");
  EXPECT_EQ(text_of(axis_of(0ns, 1ns, 4)), "ns: 0 1");
  EXPECT_EQ(text_of(axis_of(0ns, 90s, 2)), "s: 0 50");
}

TEST(AxisOf, BeginsAtTheFirstMultipleInTheWindow) {
  EXPECT_EQ(text_of(axis_of(10ms, 20ms, 5)), "ms: 10 12 14 16 18 20");
  EXPECT_EQ(text_of(axis_of(11ms, 19ms, 5)), "ms: 12 14 16 18");
  EXPECT_EQ(text_of(axis_of(1h, 1h + 3ms, 3)), "ms: 3,600,000 3,600,001 3,600,002 3,600,003");
}

TEST(AxisOf, TakesTheLongestTimes) {
  EXPECT_EQ(text_of(axis_of(0ns, Nanos::max(), 4)), "s: 0 5,000,000,000");
  const Axis end = axis_of(Nanos::max() - 1ns, Nanos::max(), 4);
  ASSERT_EQ(end.ticks.size(), 2U);
  EXPECT_EQ(end.ticks.back().time, Nanos::max());
}

TEST(AxisOf, HasTicksWithinTheWindowAndNotTooMany) {
  for (std::int64_t span = 1; span < (std::int64_t{1} << 60); span = span * 7 / 3 + 1)
    for (const int most : {1, 2, 7, 20}) {
      const Axis axis = axis_of(Nanos{span / 5}, Nanos{span / 5 + span}, most);
      EXPECT_LE(axis.ticks.size(), static_cast<std::size_t>(most) + 1);
      EXPECT_FALSE(axis.ticks.empty() && most > 1) << span << ", " << most;
      for (const Tick& tick : axis.ticks)
        EXPECT_TRUE(Nanos{span / 5} <= tick.time && tick.time <= Nanos{span / 5 + span});
    }
}

}  // namespace
}  // namespace pipedream::report
