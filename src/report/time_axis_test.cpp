#include "report/time_axis.h"

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

using namespace std::chrono_literals;

// Returns the unit and the ticks of an axis from `from` to `to`.
std::string text_of(Nanos from, Nanos to, int most, const std::optional<TimeUnit>& unit = {}) {
  const Axis axis = axis_of(to - from, most, unit);
  std::string text = axis.unit.many + ":";
  for (const Tick& tick : ticks_of(axis, from, to)) text += " " + tick.label;
  return text;
}

TEST(AxisOf, HasRoundStepsInTheFittingUnit) {
  EXPECT_EQ(text_of(0ns, 45ms, 10), "ms: 0 5 10 15 20 25 30 35 40 45");
  EXPECT_EQ(text_of(0ns, 45ms, 5), "ms: 0 10 20 30 40");
  EXPECT_EQ(text_of(0ns, 45ms, 3), "ms: 0 20 40");
  EXPECT_EQ(text_of(0ns, 700us, 4), "ms: 0.0 0.2 0.4 0.6");
  EXPECT_EQ(text_of(0ns, 70us, 4), "µs: 0 20 40 60");
  EXPECT_EQ(text_of(0ns, 1ns, 4), "ns: 0 1");
  EXPECT_EQ(text_of(0ns, 90s, 2), "s: 0 50");
}

TEST(AxisOf, BeginsAtTheFirstMultipleInTheWindow) {
  EXPECT_EQ(text_of(10ms, 20ms, 5), "ms: 10 12 14 16 18 20");
  EXPECT_EQ(text_of(11ms, 19ms, 5), "ms: 12 14 16 18");
  EXPECT_EQ(text_of(1h, 1h + 3ms, 3), "ms: 3,600,000 3,600,001 3,600,002 3,600,003");
}

TEST(AxisOf, TakesTheLongestTimes) {
  EXPECT_EQ(text_of(0ns, Nanos::max(), 4), "s: 0 5,000,000,000");
  const auto end = ticks_of(axis_of(1ns, 4), Nanos::max() - 1ns, Nanos::max());
  ASSERT_EQ(end.size(), 2U);
  EXPECT_EQ(end.back().time, Nanos::max());
}

TEST(AxisOf, HasTicksWithinTheWindowAndNotTooMany) {
  for (std::int64_t span = 1; span < (std::int64_t{1} << 60); span = span * 7 / 3 + 1)
    for (const int most : {1, 2, 7, 20}) {
      const Nanos from{span / 5};
      const Nanos to{span / 5 + span};
      const auto ticks = ticks_of(axis_of(to - from, most), from, to);
      EXPECT_LE(ticks.size(), static_cast<std::size_t>(most) + 1);
      EXPECT_FALSE(ticks.empty() && most > 1) << span << ", " << most;
      for (const Tick& tick : ticks) EXPECT_TRUE(from <= tick.time && tick.time <= to);
    }
}

const TimeUnit kUnit{1us, "unit", "units"};

TEST(AxisOf, CountsInAUnitOfItsOwn) {
  EXPECT_EQ(text_of(0ns, 12us, 10, kUnit), "units: 0 2 4 6 8 10 12");
  EXPECT_EQ(text_of(3us, 9us, 10, kUnit), "units: 3 4 5 6 7 8 9");
  EXPECT_EQ(text_of(0ns, 5000us, 5, kUnit), "units: 0 1,000 2,000 3,000 4,000 5,000");
  EXPECT_EQ(text_of(0ns, 2500ns, 10, kUnit), "units: 0 1 2") << "never parts of a unit";
  EXPECT_EQ(text_of(0ns, 500ns, 10, kUnit), "units: 0");
  EXPECT_EQ(text_of(0ns, Nanos::max(), 1, TimeUnit{2ns, "pair", "pairs"}),
            "pairs: 0 4,611,686,018,427,387,903");
}

TEST(TimeText, IsInTheUnitOfTheAxis) {
  const Axis millis = axis_of(45ms, 10);
  EXPECT_EQ(time_text(millis, 0ns), "0 ms");
  EXPECT_EQ(time_text(millis, 1200us), "1.2 ms");
  EXPECT_EQ(time_text(millis, 12340500us), "12,340.5 ms");
  EXPECT_EQ(time_text(millis, 1234567ns), "1.235 ms") << "rounded to a thousandth";
  EXPECT_EQ(time_text(millis, 999999ns), "1 ms");
  EXPECT_EQ(time_text(axis_of(100ns, 10), 7ns), "7 ns");
  EXPECT_EQ(time_text(axis_of(Nanos::max(), 1), Nanos::max()), "9,223,372,036.854 s");
}

TEST(TimeText, HasTheNameOfOneAndOfSeveral) {
  const Axis units = axis_of(12us, 10, kUnit);
  EXPECT_EQ(time_text(units, 0ns), "0 units");
  EXPECT_EQ(time_text(units, 1us), "1 unit");
  EXPECT_EQ(time_text(units, 1500ns), "1.5 units");
}

TEST(SpanText, SaysFromWhenToWhenAndHowLong) {
  EXPECT_EQ(span_text(axis_of(45ms, 10), 1200us, 3400us), "1.2 ms to 3.4 ms (2.2 ms)");
  EXPECT_EQ(span_text(axis_of(45ms, 10), 2ms, 2ms + 300ns), "2 ms to 2 ms (300 ns)");
  EXPECT_EQ(span_text(axis_of(12us, 10, kUnit), 1us, 3us), "1 unit to 3 units (2 units)");
}

}  // namespace
}  // namespace pipedream::report
