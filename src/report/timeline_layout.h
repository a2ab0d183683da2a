// Computes the sizes and the labels of the parts of a timeline's picture.
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"
#include "report/timeline_lanes.h"
#include "report/timeline_stretches.h"

namespace pipedream::report {

// Heights within a lane.
struct LaneSizes {
  Tenths compute = 0;  // height of the compute row
  Tenths strip = 0;    // height of each row below compute
  Tenths gap = 0;      // distance to the next lane
};
// Returns larger sizes for fewer workers.
[[nodiscard]] LaneSizes lane_sizes(std::size_t workers);

// A line of a label.
struct Line {
  std::string text;
  int font = 0;  // size in pixels
};
// Returns the label to the left of a lane: the worker and its stages, in one line or two.
[[nodiscard]] std::vector<Line> label_of(const Lane& lane, const LaneSizes& sizes);
// Returns the width of the widest label, at least 30 pixels.
[[nodiscard]] Tenths label_width(const std::vector<Lane>& lanes, const LaneSizes& sizes);

// Returns the rows below compute in which any event takes time in one of the stretches.
[[nodiscard]] std::vector<Row> strips_of(const std::vector<Lane>& lanes,
                                         const std::vector<Stretch>& stretches);

// Returns `text` broken into lines of at most `width`. A word that is wider has a line of its own.
// Empty text has no lines.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, int font, Tenths width);

}  // namespace pipedream::report
