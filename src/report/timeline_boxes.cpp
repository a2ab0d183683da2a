#include "report/timeline_boxes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/check.h"

namespace pipedream::report {
namespace {

using timeline::Event;

constexpr Tenths kNarrow = 8;          // narrower boxes are merged
constexpr Tenths kMergedEnough = 10;   // a merged box takes no more events from this width on
constexpr Tenths kBetweenMarks = 120;  // marks with a smaller average distance are crowded
constexpr std::size_t kFewMarks = 4;   // are never crowded
constexpr Tenths kOneMark = 10;        // closer marks become one

bool is_odd(const Event& event) {
  const auto minibatch = schedule::minibatch_of(event.op);
  return minibatch && *minibatch % 2 != 0;
}

Box box_of(const Event& event, Nanos start, Nanos end) {
  return {.look = look_of(event.op),
          .event = &event,
          .odd = is_odd(event),
          .start = start,
          .end = end,
          .busy = end - start};
}

// Collects the boxes of a row from left to right, and merges narrow ones. The run is the merged box
// under construction.
class Merger {
 public:
  explicit Merger(Tenths left) : edge_(left) {}

  void add(Box box) {
    const bool hidden = count_ > 0 && box.right <= edge_;
    box.left = hidden ? box.left : std::max(std::min(box.left, box.right - 1), edge_);
    box.right = hidden ? edge_ : std::max(box.right, box.left + 1);
    const bool narrow = hidden || box.right - box.left < kNarrow;
    const bool apart = box.left - run_.right > kNarrow || run_.right - run_.left >= kMergedEnough;
    if (count_ > 0 && !hidden && (!narrow || apart)) flush();
    edge_ = box.right;
    if (narrow)
      extend(box);
    else
      boxes_.push_back(box);
  }
  [[nodiscard]] std::vector<Box> finish() && {
    flush();
    return std::move(boxes_);
  }

 private:
  void extend(const Box& box) {
    times_[static_cast<std::size_t>(box.look)] += box.busy;
    if (count_++ == 0)
      run_ = box;
    else
      join(run_, box);
  }
  // Makes `box` stand for `next` too.
  static void join(Box& box, const Box& next) {
    box.right = next.right;
    box.end = next.end;
    box.busy += next.busy;
    box.events += next.events;
    box.odd = box.odd && next.odd;
    box.event = nullptr;
  }
  void flush() {
    const auto most = std::max_element(times_.begin(), times_.end());
    if (count_ > 1) run_.look = static_cast<Look>(most - times_.begin());
    if (count_ > 0 && !joins_last()) boxes_.push_back(run_);
    count_ = 0;
    times_ = {};
  }
  // If the last box is merged too, looks like the run and ends close to it, makes that box stand
  // for the run too and returns true.
  bool joins_last() {
    if (boxes_.empty() || run_.event != nullptr) return false;
    Box& last = boxes_.back();
    const bool same = last.event == nullptr && last.look == run_.look && last.odd == run_.odd &&
                      last.busy_tenths() == run_.busy_tenths() && run_.left - last.right <= kNarrow;
    if (same) join(last, run_);
    return same;
  }

  std::vector<Box> boxes_;
  Tenths edge_;  // right end of the last event
  Box run_;
  int count_ = 0;                      // events in the run
  std::array<Nanos, kLooks> times_{};  // of the run's events, by look
};

}  // namespace

int Box::busy_tenths() const {
  const auto length = static_cast<double>((end - start).count());
  return static_cast<int>(std::lround(10 * static_cast<double>(busy.count()) / length));
}

Scale::Scale(Nanos from, Nanos to, Tenths width, Tenths left)
    : from_(from), to_(to), width_(width), left_(left) {
  PD_CHECK(Nanos{0} <= from && from < to && 0 < width && width < 1 << 16);
  const auto bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>((to - from).count())));
  shift_ = std::max(0, bits - 46);
}

Tenths Scale::at(Nanos time) const {
  const std::int64_t span = (to_ - from_).count() >> shift_;
  const std::int64_t past = (time - from_).count() >> shift_;
  return left_ + static_cast<Tenths>((past * width_ + span / 2) / span);
}

std::vector<Box> boxes_of(const std::vector<const Event*>& row, const Scale& scale) {
  Merger merger(scale.left());
  Nanos covered = scale.from();
  for (const Event* event : row) {
    const Nanos start = std::max(event->start, covered);
    const Nanos end = std::min(event->end, scale.to());
    if (start >= end) continue;
    Box box = box_of(*event, start, end);
    box.left = scale.at(start);
    box.right = scale.at(end);
    merger.add(box);
    covered = end;
  }
  return std::move(merger).finish();
}

std::vector<Mark> marks_of(const std::vector<const Event*>& row, const Scale& scale) {
  std::vector<Mark> marks;
  for (const Event* event : row) {
    if (event->end > event->start || look_of(event->op) == Look::kWait) continue;
    if (event->start < scale.from() || event->start > scale.to()) continue;
    const Tenths at = scale.at(event->start);
    if (marks.empty() || at - marks.back().at >= kOneMark)
      marks.push_back({at, look_of(event->op), {}});
    marks.back().events.push_back(event);
  }
  return marks;
}

bool are_crowded(const std::vector<Mark>& marks) {
  if (marks.size() <= kFewMarks) return false;
  const Tenths distance = marks.back().at - marks.front().at;
  return distance / static_cast<Tenths>(marks.size() - 1) < kBetweenMarks;
}

}  // namespace pipedream::report
