// Round times for the axis of a picture.
#pragma once

#include <string>
#include <vector>

#include "core/units.h"

namespace pipedream::report {

struct Tick {
  Nanos time;
  std::string label;  // without the unit
  friend bool operator==(const Tick&, const Tick&) = default;
};

struct Axis {
  std::string unit;  // of all labels: "ns", "µs", "ms" or "s"
  std::vector<Tick>
      ticks;  // ascending, within the window; multiples of 1, 2 or 5 times a power of 10
};

// At most `most` + 1 ticks (`most` at least 1). Requires 0 ≤ from < to.
[[nodiscard]] Axis axis_of(Nanos from, Nanos to, int most);

}  // namespace pipedream::report
