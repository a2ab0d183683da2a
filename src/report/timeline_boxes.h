// Places the events of a row in a picture.
#pragma once

#include <vector>

#include "report/svg.h"
#include "report/timeline_style.h"
#include "timeline/timeline.h"

namespace pipedream::report {

// Maps times to horizontal positions. Immutable.
class Scale {
 public:
  // The window from `from` to `to` is `width` wide. Requires 0 ≤ `from` < `to`.
  Scale(Nanos from, Nanos to, Tenths width);

  [[nodiscard]] Nanos from() const { return from_; }
  [[nodiscard]] Nanos to() const { return to_; }
  [[nodiscard]] Tenths width() const { return width_; }
  // Returns the distance from the left edge. Requires a time within the window.
  [[nodiscard]] Tenths at(Nanos time) const;

 private:
  Nanos from_;
  Nanos to_;
  Tenths width_;
  int shift_ = 0;  // bits cut off from times, so that products with the width do not overflow
};

struct Box {
  Tenths left = 0;
  Tenths right = 0;  // larger than `left`
  Look look = Look::kForward;
  // Null for a box that stands for several events, which are too narrow to be told apart.
  const timeline::Event* event = nullptr;
  // In percent. For a box of several events, the share of its time that they take.
  int opacity = 100;
};

// Returns the boxes of a row's events within the window, from left to right. No two of them
// overlap. Requires events sorted by start. If an event begins before the last one has ended, only
// the rest of it is shown. Events that take no time have no box.
[[nodiscard]] std::vector<Box> boxes_of(const std::vector<const timeline::Event*>& row,
                                        const Scale& scale);

// Events that take no time and are at one place, such as updates.
struct Mark {
  Tenths at = 0;
  Look look = Look::kUpdate;                   // look of the first event
  std::vector<const timeline::Event*> events;  // at least one
};
// Returns the marks of a row's events within the window. Waits have no marks. Returns no marks at
// all if there are so many that they would hide the boxes.
[[nodiscard]] std::vector<Mark> marks_of(const std::vector<const timeline::Event*>& row,
                                         const Scale& scale);

}  // namespace pipedream::report
