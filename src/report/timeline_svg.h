// A timeline as an SVG picture, in the style of the PipeDream paper's figures: a lane per worker,
// time from left to right, and in every box of compute the number of its minibatch.
#pragma once

#include <optional>
#include <string>

#include "report/time_axis.h"
#include "timeline/timeline.h"

namespace pipedream::report {

struct SvgOptions {
  std::string title;
  std::string subtitle;          // wrapped where it is too long for one line
  Nanos from{0};                 // the time at the left edge
  std::optional<Nanos> to;       // the time at the right edge; nullopt: the end of the timeline
  std::optional<TimeUnit> unit;  // unit of all times; nullopt: ns, µs, ms or s, as fits
  int widest = 1600;             // the most width of the picture, in pixels; at least 800
};

// Returns a self-contained SVG document. The top of each lane is compute. The thinner strips below
// are sends, receives, averaging or pushes, and loading; a strip in which nothing takes time is
// left out. If two events in one strip overlap, the first hides the other. The number in a box is
// its minibatch. If minibatches are cut, it is the microbatch instead, and minibatches with odd
// numbers are pale; nothing else is. On a worker with several stages, a dark band in the box has
// the stage's number. If a run is too long to be readable within `widest`, its beginning, a stretch
// from its middle and its end are shown, with breaks between them (report/timeline_stretches.h).
// Events that are still too narrow to see are merged, so that the size of the document is bounded
// by workers × pixels. Tooltips say in words what happens, and why a worker is idle. The legend has
// all colours and marks of the picture and no others. Pure: equal arguments give equal text.
[[nodiscard]] std::string timeline_svg(const timeline::Timeline& timeline,
                                       const SvgOptions& options);

}  // namespace pipedream::report
