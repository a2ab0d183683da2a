// What of a layer's time does not depend on how many samples there are.
#pragma once

#include <algorithm>

#include "core/units.h"

namespace pipedream::profiler {

// Of a pass that took `whole`, when a pass with a `share` of its samples (above 0, below 1) took
// `part`: where the line through both meets no samples at all. Between 0 and `whole`, whatever was
// measured: a part that took less than its share has nothing fixed, and one that took longer than
// the whole has nothing else.
[[nodiscard]] inline Nanos fixed_time(Nanos whole, Nanos part, double share) {
  const double fixed = (to_seconds(part) - to_seconds(whole) * share) / (1 - share);
  return std::clamp(from_seconds(fixed), Nanos(0), whole);
}

}  // namespace pipedream::profiler
