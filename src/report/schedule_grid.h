// A schedule as a grid of characters, with a row per worker and a column per unit of time
// (docs/systems.md has examples).
#pragma once

#include <string>

#include "core/units.h"
#include "timeline/timeline.h"

namespace pipedream::report {

// Returns the grid of a timeline. Times are rounded to whole units.
//
//   time      0  1  2  3  4  5
//   worker 0  F0 F1       B0 ──
//   worker 1     F0 B0 ── F1
//
// Only ops on the compute lane that take time are shown. With `with_stages`, an op of stage 2 is
// written as 2:F0.
[[nodiscard]] std::string schedule_grid(const timeline::Timeline& timeline, Nanos unit,
                                        bool with_stages);

}  // namespace pipedream::report
