// Computes how large the parts of a timeline's picture are.
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"
#include "report/timeline_lanes.h"

namespace pipedream::report {

// The time that a picture shows. 0 ≤ `from` < `to`.
struct Window {
  Nanos from{0};
  Nanos to{1};
};

// Heights within a lane.
struct LaneSizes {
  Tenths compute = 0;  // height of the compute row
  Tenths strip = 0;    // height of each row below compute
  Tenths gap = 0;      // distance to the next lane
};
// Returns larger sizes for fewer workers.
[[nodiscard]] LaneSizes lane_sizes(std::size_t workers);

// Returns the width at which nearly all numbers fit into their boxes, within limits.
[[nodiscard]] Tenths chart_width(const std::vector<Lane>& lanes, const Window& window);

// Returns the rows below compute in which any event takes time within the window.
[[nodiscard]] std::vector<Row> strips_of(const std::vector<Lane>& lanes, const Window& window);

// Returns `text` broken into lines of at most `width`. A word that is wider has a line of its own.
// Empty text has no lines.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, int font, Tenths width);

}  // namespace pipedream::report
