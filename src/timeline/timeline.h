// What happened when: the one result type of the simulator and of real runs.
#pragma once

#include <vector>

#include "core/ids.h"
#include "core/units.h"
#include "schedule/ops.h"

namespace pipedream::timeline {

// One op on one worker. Compute ops of a worker never overlap; transfers may overlap everything.
struct Event {
  WorkerId worker;
  schedule::Op op;
  Nanos start{0};  // since the run began
  Nanos end{0};
  friend bool operator==(const Event&, const Event&) = default;
};

struct Timeline {
  std::vector<Event> events;  // each worker's in the order of its program
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

// From the beginning of the run to the end of its last event.
[[nodiscard]] Nanos length(const Timeline& timeline);

// Time that the worker spent in Forward and Backward.
[[nodiscard]] Nanos compute_time(const Timeline& timeline, WorkerId worker);

// The ops of one worker in the order in which they ran.
[[nodiscard]] std::vector<schedule::Op> ops_of(const Timeline& timeline, WorkerId worker);

}  // namespace pipedream::timeline
