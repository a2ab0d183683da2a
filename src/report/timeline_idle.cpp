#include "report/timeline_idle.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/text.h"

namespace pipedream::report {
namespace {

using timeline::Event;
using Rest = Gap::Rest;
using Events = std::vector<const Event*>;

template <class Op>
bool is(const Event* event) {
  return std::holds_alternative<Op>(event->op);
}

// Returns for each event of a worker why the worker stood idle before it, transfers aside. A
// pipeline fills until the worker's first backward and drains after its last forward; if it
// flushes, it does so around each update.
std::vector<Rest> causes_of(const Events& events, const RunShape& shape) {
  std::vector<Rest> causes(events.size(), Rest::kWorker);
  if (!shape.is_pipeline) return causes;
  const auto begins_anew = [&](const Event* event) {
    return shape.flushes && is<schedule::Update>(event);
  };
  bool forward_follows = false;
  for (std::size_t i = events.size(); i-- > 0;) {
    if (begins_anew(events[i])) forward_follows = false;
    forward_follows = forward_follows || is<schedule::Forward>(events[i]);
    if (!forward_follows) causes[i] = Rest::kDrain;
  }
  bool filling = true;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (filling) causes[i] = Rest::kFill;
    if (is<schedule::Backward>(events[i])) filling = false;
    if (begins_anew(events[i])) filling = true;
  }
  return causes;
}

Gap gap_before(const Event& event, Nanos free, Rest rest) {
  Gap gap{.start = free, .end = event.start, .rest = rest};
  // Weights are fetched once the gradients are pushed, and that is a transfer too.
  const bool pushes = is<schedule::Pull>(&event);
  gap.transfer = pushes ? gap.end - gap.start : std::min(event.transfer, gap.end - gap.start);
  const Nanos wait = std::min(event.wait, gap.end - gap.start - gap.transfer);
  (is<schedule::Forward>(&event) ? gap.data_set : gap.replicas) = wait;
  return gap;
}

const char* text_of(Rest rest) {
  switch (rest) {
    case Rest::kFill:
      return "while the pipeline fills";
    case Rest::kDrain:
      return "while the pipeline drains";
    case Rest::kWorker:
      return "waiting for another worker";
    case Rest::kDone:
      break;
  }
  return "with nothing left to do";
}

}  // namespace

std::vector<Gap> gaps_of(const Lane& lane, const RunShape& shape, Nanos end) {
  const Events& events = lane.row(Row::kCompute);
  const std::vector<Rest> causes = causes_of(events, shape);
  std::vector<Gap> gaps;
  Nanos free{0};
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i]->start > free) gaps.push_back(gap_before(*events[i], free, causes[i]));
    free = std::max(free, events[i]->end);
  }
  if (end > free)
    gaps.push_back(
        {.start = free, .end = end, .rest = shape.is_pipeline ? Rest::kDrain : Rest::kDone});
  return gaps;
}

std::string words_of(const Gap& gap, const Axis& axis) {
  const Nanos rest = gap.end - gap.start - gap.transfer - gap.data_set - gap.replicas;
  std::vector<std::pair<Nanos, const char*>> causes = {{gap.transfer, "waiting for a transfer"},
                                                       {gap.data_set, "waiting for the data set"},
                                                       {gap.replicas, "waiting for other replicas"},
                                                       {rest, text_of(gap.rest)}};
  std::erase_if(causes, [](const auto& cause) { return cause.first <= Nanos{0}; });
  const std::string times = span_text(axis, gap.start, gap.end);
  if (causes.size() == 1) return fmt::format("idle {}: {}", causes.front().second, times);
  return fmt::format("idle: {}: {}", times, joined(causes, [&](const auto& cause) {
                       return duration_text(axis, cause.first) + " " + cause.second;
                     }));
}

}  // namespace pipedream::report
