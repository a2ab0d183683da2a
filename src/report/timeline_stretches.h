// Chooses which stretches of a run a picture shows. A run that is too long to be readable on one
// screen is shown in three stretches of the same scale, with breaks between them: its beginning, a
// stretch from its middle, and its end.
//
//   |the pipeline fills     |⌇|steady state        |⌇|the pipeline drains     |
#pragma once

#include <string>
#include <vector>

#include "report/timeline_boxes.h"
#include "report/timeline_lanes.h"

namespace pipedream::report {

// The time that a picture is about. 0 ≤ `from` < `to`.
struct Window {
  Nanos from{0};
  Nanos to{1};
};

inline constexpr Tenths kBreak = 340;  // distance between two stretches

// A part of the run, and its place in the chart.
struct Stretch {
  std::string name;  // empty if there is only one stretch
  Scale scale;

  [[nodiscard]] bool shows(const timeline::Event& event) const {
    return event.start < event.end && event.start < scale.to() && event.end > scale.from();
  }
};

// Returns one stretch or three, ascending, of a chart that is at most `widest` wide. Requires
// `widest` ≥ 10 times kBreak.
//  1. A chart is as wide as the numbers in nearly all of its boxes need, and at least 640 pixels if
//     `widest` allows it.
//  2. If the whole run would need more than `widest`, there are three stretches. The first shows
//     the whole filling of the pipeline and the last its whole draining. If these need it, boxes
//     become narrower than their numbers.
//  3. If three stretches would show nearly all of the run, there is one, which shows all of it.
[[nodiscard]] std::vector<Stretch> stretches_of(const std::vector<Lane>& lanes,
                                                const RunShape& shape, const Window& window,
                                                Tenths widest);

}  // namespace pipedream::report
