// A timeline as an SVG picture, in the style of the PipeDream paper's figures: a lane per worker,
// time from left to right, and in every box of compute the number of its minibatch.
#pragma once

#include <optional>
#include <string>

#include "timeline/timeline.h"

namespace pipedream::report {

struct SvgOptions {
  std::string title;
  std::string subtitle;     // wrapped where it is too long for one line
  Nanos from{0};            // the time at the left edge
  std::optional<Nanos> to;  // the time at the right edge; nullopt: the end of the timeline
};

// Returns a self-contained SVG document. The top of each lane is compute. The thinner strips below
// are sends, receives, averaging or pushes, and loading; a strip in which nothing takes time is
// left out. If two events in one strip overlap, the first hides the other. The number in a box is
// its minibatch. If minibatches are cut, it is the microbatch instead, and the minibatches
// alternate between two shades. On a worker with several stages, a dark band in the box has the
// stage's number. Events that are too narrow to see are merged, so that the size of the document is
// bounded by workers × pixels. Pure: equal arguments give equal text.
[[nodiscard]] std::string timeline_svg(const timeline::Timeline& timeline,
                                       const SvgOptions& options);

}  // namespace pipedream::report
