#include "timeline/timeline.h"

#include <algorithm>

namespace pipedream::timeline {

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
