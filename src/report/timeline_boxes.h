// Where the events of a row stand in a picture.
#pragma once

#include <vector>

#include "report/svg.h"
#include "report/timeline_style.h"
#include "timeline/timeline.h"

namespace pipedream::report {

// Times to places. Requires 0 ≤ from < to.
class Scale {
 public:
  Scale(Nanos from, Nanos to, Tenths width);

  [[nodiscard]] Nanos from() const { return from_; }
  [[nodiscard]] Nanos to() const { return to_; }
  [[nodiscard]] Tenths width() const { return width_; }
  // Of a time within the window.
  [[nodiscard]] Tenths at(Nanos time) const;

 private:
  Nanos from_;
  Nanos to_;
  Tenths width_;
  int shift_ = 0;  // of times, so that products with the width do not overflow
};

struct Box {
  Tenths left = 0;
  Tenths right = 0;  // above left
  Look look = Look::kForward;
  const timeline::Event* event = nullptr;  // null: several that are too narrow to be told apart
  int opacity = 100;                       // of those: the share of the time that they take
};

// The part of a row's events, sorted by their start, that lies within the window: ascending, no two
// overlap. Where one event hides another's beginning, the rest of it is shown. Events that take no
// time have no box.
[[nodiscard]] std::vector<Box> boxes_of(const std::vector<const timeline::Event*>& row,
                                        const Scale& scale);

// Events that take no time, but for waits, at one place. None where they would hide the boxes.
struct Mark {
  Tenths at = 0;
  Look look = Look::kUpdate;                   // of the first
  std::vector<const timeline::Event*> events;  // at least one
};
[[nodiscard]] std::vector<Mark> marks_of(const std::vector<const timeline::Event*>& row,
                                         const Scale& scale);

}  // namespace pipedream::report
