// Round times for the axis of a picture.
#pragma once

#include <string>
#include <vector>

#include "core/units.h"

namespace pipedream::report {

struct Tick {
  Nanos time;
  std::string label;  // the time without its unit
  friend bool operator==(const Tick&, const Tick&) = default;
};

struct Axis {
  std::string unit;  // unit of all labels: "ns", "µs", "ms" or "s"
  // Ascending. Their distance is 1, 2 or 5 times a power of 10 ns, and all are multiples of it.
  std::vector<Tick> ticks;
};

// Returns an axis with ticks between `from` and `to`, at most `most` + 1. Requires 0 ≤ `from` <
// `to` and `most` ≥ 1.
[[nodiscard]] Axis axis_of(Nanos from, Nanos to, int most);

}  // namespace pipedream::report
