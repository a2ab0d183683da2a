// Round times for the axis of a picture, and times as text in the axis's unit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.h"

namespace pipedream::report {

// A unit in which a picture counts time.
struct TimeUnit {
  Nanos length{1};   // at least 1 ns
  std::string one;   // its name after the number 1, as in "unit"
  std::string many;  // its name after other numbers, as in "units"
  friend bool operator==(const TimeUnit&, const TimeUnit&) = default;
};

struct Axis {
  TimeUnit unit;
  Nanos step{1};           // distance of ticks: 1, 2 or 5 times a power of 10
  bool is_seconds = true;  // `unit` is ns, µs, ms or s
};

// Returns an axis with at most `most` steps in `span`. If `unit` is given, its ticks are whole
// numbers of it. Otherwise the unit is the largest of ns, µs, ms and s in which ticks have at most
// one decimal. Requires `span` > 0 and `most` ≥ 1.
[[nodiscard]] Axis axis_of(Nanos span, int most, const std::optional<TimeUnit>& unit = {});

struct Tick {
  Nanos time;
  std::string label;  // the time without its unit
  friend bool operator==(const Tick&, const Tick&) = default;
};
// Returns the multiples of the axis's step from `from` to `to`. Requires 0 ≤ `from` ≤ `to`.
[[nodiscard]] std::vector<Tick> ticks_of(const Axis& axis, Nanos from, Nanos to);

// Returns a point in time in the axis's unit, with up to three decimals: "12,340.5 ms", "1 unit".
[[nodiscard]] std::string time_text(const Axis& axis, Nanos time);
// Returns a point in time in the axis's unit, rounded to a hundredth of the axis's step.
[[nodiscard]] std::string rough_time_text(const Axis& axis, Nanos time);
// Returns a duration: in the axis's unit if that is not a part of a second, else in the unit that
// suits its size.
[[nodiscard]] std::string duration_text(const Axis& axis, Nanos duration);
// Returns both: "1.2 ms to 3.4 ms (2.2 ms)".
[[nodiscard]] std::string span_text(const Axis& axis, Nanos from, Nanos to);

}  // namespace pipedream::report
