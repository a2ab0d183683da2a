// How large the parts of a timeline's picture are.
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"
#include "report/timeline_lanes.h"

namespace pipedream::report {

// What a picture shows. 0 ≤ from < to.
struct Window {
  Nanos from{0};
  Nanos to{1};
};

// Heights within a lane; the fewer workers, the larger.
struct LaneSizes {
  Tenths compute = 0;
  Tenths strip = 0;  // of each row of communication
  Tenths gap = 0;    // to the next lane
};
[[nodiscard]] LaneSizes lane_sizes(std::size_t workers);

// So wide that nearly all numbers fit into their boxes, within limits.
[[nodiscard]] Tenths chart_width(const std::vector<Lane>& lanes, const Window& window);

// The rows under compute in which anything takes time.
[[nodiscard]] std::vector<Row> strips_of(const std::vector<Lane>& lanes, const Window& window);

// `text` in lines of at most that width; a longer word has a line of its own. None for no text.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, int font, Tenths width);

}  // namespace pipedream::report
