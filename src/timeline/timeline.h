// A timeline says which op ran when on which worker. The simulator (docs/simulator.md) and real
// runs (docs/runtime.md#measuring) both produce it.
#pragma once

#include <vector>

#include "core/ids.h"
#include "core/units.h"
#include "schedule/ops.h"

namespace pipedream::timeline {

// One op on one worker. Ops on a worker's compute lane (on_compute_lane()) never overlap each
// other. Loads, transfers and averagings have lanes of their own and may overlap any op.
struct Event {
  WorkerId worker;
  schedule::Op op;
  Nanos start{0};  // counted from the beginning of the run
  Nanos end{0};
  // For ops on the compute lane: the part of the worker's idle time before `start` in which the
  // data that it waited for was being transferred.
  Nanos transfer{0};
  // For ops on the compute lane: the part of the worker's idle time before `start` in which it
  // waited for the data set, or for other replicas to begin an averaging.
  Nanos wait{0};
  // For ops on the compute lane of a real run: the memory that the worker held when the op ended.
  // 0 if it is not known.
  Bytes memory{};
  friend bool operator==(const Event&, const Event&) = default;
};

struct Timeline {
  std::vector<Event> events;  // compute ops of one worker are in program order
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

// Returns whether the op occupies the worker's compute lane: a forward, recomputation, backward or
// update, or an Await, where the worker waits for an averaging.
[[nodiscard]] bool on_compute_lane(const schedule::Op& op);

// Returns the time from the beginning of the run to the end of its last event.
[[nodiscard]] Nanos length(const Timeline& timeline);

// Returns the time that the worker spent in Forward and Backward ops.
[[nodiscard]] Nanos compute_time(const Timeline& timeline, WorkerId worker);

// Returns the ops of one worker, in the order of `timeline.events`.
[[nodiscard]] std::vector<schedule::Op> ops_of(const Timeline& timeline, WorkerId worker);

}  // namespace pipedream::timeline
