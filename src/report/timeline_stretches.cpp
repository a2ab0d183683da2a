#include "report/timeline_stretches.h"

#include <algorithm>

#include "core/check.h"

namespace pipedream::report {
namespace {

using timeline::Event;

constexpr Tenths kNarrowestChart = 6400;
constexpr Tenths kComfortableChart = 12000;
constexpr Tenths kComfortableBox = 260;
constexpr Tenths kSmallestDigit = 50;
constexpr Tenths kMargins = 40;  // of a box

// How large boxes must be drawn so that their numbers are readable.
struct Boxes {
  Nanos time{0};           // most boxes take at least this time; 0: there are no boxes
  Tenths with_number = 0;  // width that a box needs for the longest number
};

Boxes boxes_in(const std::vector<Lane>& lanes, const RunShape& shape, const Window& window) {
  const Stretch whole{"", Scale(window.from, window.to, 1)};
  std::vector<Nanos> times;
  std::int64_t largest = 0;
  for (const Lane& lane : lanes)
    for (const Event* event : lane.row(Row::kCompute)) {
      const auto item = item_of(event->op);
      if (!item || !whole.shows(*event)) continue;
      times.push_back(event->end - event->start);
      largest = std::max(largest, shape.has_microbatches ? item->microbatch : item->minibatch);
    }
  if (times.empty()) return {};
  const auto nth = [&](std::size_t n) {
    const auto at = times.begin() + static_cast<std::ptrdiff_t>(n);
    std::nth_element(times.begin(), at, times.end());
    return *at;
  };
  const Nanos time = std::max(nth(times.size() / 10), nth(times.size() / 2) / 3);
  const auto digits = static_cast<Tenths>(std::to_string(largest).size());
  return {std::max(time, Nanos{1}), digits * kSmallestDigit + kMargins};
}

// Returns `boxes` times `width`, between `least` and `most`.
Tenths wide(std::int64_t boxes, Tenths width, Tenths least, Tenths most) {
  return boxes > most / width ? most : std::max(least, static_cast<Tenths>(boxes) * width);
}

// Returns when the last worker begins its first backward, or the beginning of the window.
Nanos filled(const std::vector<Lane>& lanes, const Window& window) {
  Nanos latest = window.from;
  for (const Lane& lane : lanes) {
    const auto& row = lane.row(Row::kCompute);
    const auto first = std::find_if(row.begin(), row.end(), [](const Event* event) {
      return std::holds_alternative<schedule::Backward>(event->op);
    });
    if (first != row.end()) latest = std::max(latest, (*first)->start);
  }
  return std::min(latest, window.to);
}

// Returns when the first worker ends its last forward, or the end of the window.
Nanos draining(const std::vector<Lane>& lanes, const Window& window) {
  Nanos earliest = window.to;
  for (const Lane& lane : lanes) {
    const auto& row = lane.row(Row::kCompute);
    const auto last = std::find_if(row.rbegin(), row.rend(), [](const Event* event) {
      return std::holds_alternative<schedule::Forward>(event->op);
    });
    if (last != row.rend()) earliest = std::min(earliest, (*last)->end);
  }
  return std::max(earliest, window.from);
}

// How much time each of three stretches shows.
struct Lengths {
  Nanos first{0};
  Nanos middle{0};
  Nanos last{0};
  [[nodiscard]] Nanos sum() const { return first + middle + last; }
};

// Returns the lengths of three stretches that together are `readable` long, or longer if filling
// and draining would otherwise take more than three fifths of it.
Lengths lengths_for(Nanos readable, Nanos fill, Nanos drain) {
  const Nanos all = std::max(readable, (fill + drain) / 3 * 5);
  const Nanos rest = all - fill - drain;
  return {fill + rest / 4, rest / 2, drain + rest / 4};
}

// Returns the latest beginning of a forward on the first worker up to `time`, but none before
// `earliest`.
Nanos forward_before(const std::vector<Lane>& lanes, Nanos time, Nanos earliest) {
  Nanos best = earliest;
  bool found = false;
  for (const Event* event : lanes.front().row(Row::kCompute)) {
    if (event->start < earliest || event->start > time) continue;
    if (!std::holds_alternative<schedule::Forward>(event->op)) continue;
    best = event->start;
    found = true;
  }
  return found ? best : time;
}

std::vector<Stretch> three_stretches(const std::vector<Lane>& lanes, const RunShape& shape,
                                     const Window& window, const Lengths& lengths, Tenths width) {
  const bool steady = shape.is_pipeline && !shape.flushes;
  const Scale all(Nanos{0}, lengths.sum(), width - 2 * kBreak);
  const Tenths first = all.at(lengths.first);
  const Tenths middle = all.at(lengths.first + lengths.middle) - first;
  const Nanos left_out = window.to - window.from - lengths.sum();
  const Nanos begin = forward_before(lanes, window.from + lengths.first + left_out / 2,
                                     window.from + lengths.first + left_out / 4);
  return {{steady ? "the pipeline fills" : "beginning",
           Scale(window.from, window.from + lengths.first, first)},
          {steady ? "steady state" : "middle",
           Scale(begin, begin + lengths.middle, middle, first + kBreak)},
          {steady ? "the pipeline drains" : "end",
           Scale(window.to - lengths.last, window.to, all.width() - first - middle,
                 first + middle + 2 * kBreak)}};
}

}  // namespace

std::vector<Stretch> stretches_of(const std::vector<Lane>& lanes, const RunShape& shape,
                                  const Window& window, Tenths widest) {
  PD_CHECK(widest >= 10 * kBreak);
  const Boxes boxes = boxes_in(lanes, shape, window);
  const Nanos span = window.to - window.from;
  const auto one_stretch = [&](Tenths width) {
    return std::vector<Stretch>{{"", Scale(window.from, window.to, std::min(width, widest))}};
  };
  if (boxes.time == Nanos{0}) return one_stretch(kNarrowestChart);
  const std::int64_t count = span / boxes.time;
  if (count <= widest / boxes.with_number)
    return one_stretch(std::max(wide(count, kComfortableBox, kNarrowestChart, kComfortableChart),
                                wide(count, boxes.with_number, kNarrowestChart, widest)));
  const Nanos fill = shape.is_pipeline ? filled(lanes, window) - window.from : Nanos{0};
  const Nanos drain = shape.is_pipeline ? window.to - draining(lanes, window) : Nanos{0};
  const Nanos most = span / 8 * 7;
  if (fill > most / 2 || drain > most / 2 || fill + drain > most / 5 * 3)
    return one_stretch(widest);
  const Lengths lengths =
      lengths_for(boxes.time * ((widest - 2 * kBreak) / boxes.with_number), fill, drain);
  if (lengths.sum() > most) return one_stretch(widest);
  return three_stretches(lanes, shape, window, lengths, widest);
}

}  // namespace pipedream::report
