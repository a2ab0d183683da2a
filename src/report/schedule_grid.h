// A schedule as a grid of characters: a row per worker, a column per unit of time.
#pragma once

#include <string>

#include "core/units.h"
#include "timeline/timeline.h"

namespace pipedream::report {

//   time      0  1  2  3  4  5
//   worker 0  F0 F1       B0 ──
//   worker 1     F0 B0 ── F1
//
// Updates and other ops that take no time are left out. `with_stages` writes 2:F0 for stage 2.
[[nodiscard]] std::string schedule_grid(const timeline::Timeline& timeline, Nanos unit,
                                        bool with_stages);

}  // namespace pipedream::report
