#include "timeline/timeline.h"

#include <algorithm>

#include "core/match.h"

namespace pipedream::timeline {

bool on_compute_lane(const schedule::Op& op) {
  return std::visit(
      Match{[](const schedule::Load&) { return false; },
            [](const schedule::Send&) { return false; },
            [](const schedule::Recv&) { return false; },
            [](const schedule::Reduce&) { return false; },
            [](const schedule::Push&) { return false; },
            [](const schedule::Pull&) { return false; }, [](const auto&) { return true; }},
      op);
}

Nanos length(const Timeline& timeline) {
  Nanos last{0};
  for (const Event& event : timeline.events) last = std::max(last, event.end);
  return last;
}

Nanos compute_time(const Timeline& timeline, WorkerId worker) {
  Nanos sum{0};
  for (const Event& event : timeline.events) {
    const bool computes = std::holds_alternative<schedule::Forward>(event.op) ||
                          std::holds_alternative<schedule::Backward>(event.op);
    if (event.worker == worker && computes) sum += event.end - event.start;
  }
  return sum;
}

std::vector<schedule::Op> ops_of(const Timeline& timeline, WorkerId worker) {
  std::vector<schedule::Op> ops;
  for (const Event& event : timeline.events)
    if (event.worker == worker) ops.push_back(event.op);
  return ops;
}

}  // namespace pipedream::timeline
