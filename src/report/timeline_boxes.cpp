#include "report/timeline_boxes.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/check.h"

namespace pipedream::report {
namespace {

using timeline::Event;

constexpr Tenths kNarrow = 8;         // narrower boxes are merged
constexpr Tenths kMergedEnough = 10;  // a merged box takes no more events from this width on
constexpr Tenths kBetweenMarks = 60;  // with a smaller average distance no marks are shown
constexpr Tenths kOneMark = 10;       // closer marks become one
constexpr int kFaintest = 20;         // least opacity of a merged box, in percent

// Collects the boxes of a row from left to right, and merges narrow ones. The run is the merged box
// under construction.
class Merger {
 public:
  void add(const Event* event, Nanos start, Nanos end, Tenths left, Tenths right) {
    if (count_ > 0 && right <= edge_) return extend(event, start, end, left, edge_);
    left = std::max(std::min(left, right - 1), edge_);
    right = std::max(right, left + 1);
    const bool narrow = right - left < kNarrow;
    const bool apart = left - run_.right > kNarrow || run_.right - run_.left >= kMergedEnough;
    if (count_ > 0 && (!narrow || apart)) flush();
    if (narrow)
      extend(event, start, end, left, right);
    else
      boxes_.push_back({left, right, look_of(event->op), event});
    edge_ = right;
  }
  [[nodiscard]] std::vector<Box> finish() && {
    flush();
    return std::move(boxes_);
  }

 private:
  void extend(const Event* event, Nanos start, Nanos end, Tenths left, Tenths right) {
    if (count_++ == 0) {
      run_ = {left, right, look_of(event->op), event};
      run_start_ = start;
    }
    run_.right = right;
    run_end_ = end;
    times_[static_cast<std::size_t>(look_of(event->op))] += end - start;
  }
  void flush() {
    if (count_ > 1) {
      const auto most = std::max_element(times_.begin(), times_.end());
      run_.look = static_cast<Look>(most - times_.begin());
      run_.event = nullptr;
      const Nanos length = run_end_ - run_start_;
      Nanos busy{0};
      for (const Nanos time : times_) busy += time;
      const auto tenths = static_cast<int>((busy * 10 + length / 2) / length);
      run_.opacity = std::max(kFaintest, tenths * 10);
    }
    if (count_ > 0 && !joins_last()) boxes_.push_back(run_);
    count_ = 0;
    times_ = {};
  }
  // If the last box is merged too, looks like the run and ends close to it, extends that box to the
  // end of the run and returns true.
  bool joins_last() {
    if (boxes_.empty() || run_.event != nullptr) return false;
    Box& last = boxes_.back();
    const bool same = last.event == nullptr && last.look == run_.look &&
                      last.opacity == run_.opacity && run_.left - last.right <= kNarrow;
    if (same) last.right = run_.right;
    return same;
  }

  std::vector<Box> boxes_;
  Tenths edge_ = 0;  // right end of the last event
  Box run_;
  Nanos run_start_{0};
  Nanos run_end_{0};
  int count_ = 0;  // events in the run
  std::array<Nanos, kLooks> times_{};
};

}  // namespace

Scale::Scale(Nanos from, Nanos to, Tenths width) : from_(from), to_(to), width_(width) {
  PD_CHECK(Nanos{0} <= from && from < to && 0 < width && width < 1 << 16);
  const auto bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>((to - from).count())));
  shift_ = std::max(0, bits - 46);
}

Tenths Scale::at(Nanos time) const {
  const std::int64_t span = (to_ - from_).count() >> shift_;
  const std::int64_t past = (time - from_).count() >> shift_;
  return static_cast<Tenths>((past * width_ + span / 2) / span);
}

std::vector<Box> boxes_of(const std::vector<const Event*>& row, const Scale& scale) {
  Merger merger;
  Nanos covered = scale.from();
  for (const Event* event : row) {
    const Nanos start = std::max(event->start, covered);
    const Nanos end = std::min(event->end, scale.to());
    if (start >= end) continue;
    merger.add(event, start, end, scale.at(start), scale.at(end));
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
  if (static_cast<std::int64_t>(marks.size()) * kBetweenMarks > scale.width()) marks.clear();
  return marks;
}

}  // namespace pipedream::report
