// A timeline as a picture, in the manner of the PipeDream paper's figures: a lane per worker, time
// goes right, and every box of compute has the number of its minibatch.
#pragma once

#include <optional>
#include <string>

#include "timeline/timeline.h"

namespace pipedream::report {

struct SvgOptions {
  std::string title;
  std::string subtitle;     // wrapped where it is too long for one line
  Nanos from{0};            // what is shown
  std::optional<Nanos> to;  // nullopt: to the end
};

// A self-contained SVG document. In each lane, compute is above; the thinner strips below are
// sends, receives, averaging or pushes, and loading, as far as any takes time; of two at the same
// time in one strip, the first hides the other. The number in a box is its minibatch; where
// minibatches are cut, its microbatch, and minibatches take turns in shade. On a worker of several
// stages a dark band has the stage's number. What is too narrow to see is merged, so that the size
// is bounded by workers × pixels. Pure: equal arguments give equal text.
[[nodiscard]] std::string timeline_svg(const timeline::Timeline& timeline,
                                       const SvgOptions& options);

}  // namespace pipedream::report
