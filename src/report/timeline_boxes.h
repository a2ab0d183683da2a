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
  // The window from `from` to `to` begins at `left` and is `width` wide. Requires 0 ≤ `from` <
  // `to`.
  Scale(Nanos from, Nanos to, Tenths width, Tenths left = 0);

  [[nodiscard]] Nanos from() const { return from_; }
  [[nodiscard]] Nanos to() const { return to_; }
  [[nodiscard]] Tenths width() const { return width_; }
  [[nodiscard]] Tenths left() const { return left_; }
  [[nodiscard]] Tenths right() const { return left_ + width_; }
  // Returns the position of a time. Requires a time within the window.
  [[nodiscard]] Tenths at(Nanos time) const;

 private:
  Nanos from_;
  Nanos to_;
  Tenths width_;
  Tenths left_;
  int shift_ = 0;  // bits cut off from times, so that products with the width do not overflow
};

struct Box {
  Tenths left = 0;
  Tenths right = 0;  // larger than `left`
  Look look = Look::kForward;
  // Null for a box that stands for several events, which are too narrow to be told apart. Then
  // `look` is that of the events which take most of the time.
  const timeline::Event* event = nullptr;
  bool odd = false;  // all of its events are about minibatches with odd numbers
  Nanos start{0};    // beginning of its first event, within the window
  Nanos end{0};      // end of its last event, within the window
  Nanos busy{0};     // time that its events take
  int events = 1;    // number of its events

  // Returns `busy` as a share of the time from `start` to `end`, in tenths.
  [[nodiscard]] int busy_tenths() const;
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
// Returns the marks of a row's events within the window. Waits have no marks.
[[nodiscard]] std::vector<Mark> marks_of(const std::vector<const timeline::Event*>& row,
                                         const Scale& scale);
// Returns whether the marks of a row are so close to each other that they would hide its boxes.
[[nodiscard]] bool are_crowded(const std::vector<Mark>& marks);

}  // namespace pipedream::report
