// What happened when: the one result type of the simulator and of real runs.
#pragma once

#include <vector>

#include "core/ids.h"
#include "core/units.h"
#include "schedule/ops.h"

namespace pipedream::timeline {

// One op on one worker. Ops on the worker's compute lane (on_compute_lane) never overlap; loads,
// transfers and averagings have lanes of their own and overlap everything.
struct Event {
  WorkerId worker;
  schedule::Op op;
  Nanos start{0};  // since the run began
  Nanos end{0};
  // For ops on the compute lane: of the time that the worker stood idle before `start`, the part in
  // which what it waited for was on its way, and the part in which it waited for the data set or
  // for other workers to take part in an averaging.
  Nanos transfer{0};
  Nanos wait{0};
  friend bool operator==(const Event&, const Event&) = default;
};

struct Timeline {
  std::vector<Event> events;  // each worker's compute lane in the order of its program
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

// Whether a worker does nothing else meanwhile: forwards, recomputations, backwards, updates, and
// the points where it waits for an averaging.
[[nodiscard]] bool on_compute_lane(const schedule::Op& op);

// From the beginning of the run to the end of its last event.
[[nodiscard]] Nanos length(const Timeline& timeline);

// Time that the worker spent in Forward and Backward.
[[nodiscard]] Nanos compute_time(const Timeline& timeline, WorkerId worker);

// The ops of one worker in the order in which they ran.
[[nodiscard]] std::vector<schedule::Op> ops_of(const Timeline& timeline, WorkerId worker);

}  // namespace pipedream::timeline
