// The times in which a worker computes nothing, and why, for the tooltips of a timeline's picture
// (docs/simulator.md#idle-time-has-four-causes).
#pragma once

#include <string>
#include <vector>

#include "report/time_axis.h"
#include "report/timeline_lanes.h"

namespace pipedream::report {

// Idle time before one op, or after the last op of a worker.
struct Gap {
  Nanos start{0};
  Nanos end{0};
  Nanos transfer{0};  // part in which the data that the worker waited for was being transferred
  Nanos data_set{0};  // part in which it waited for the data set
  Nanos replicas{0};  // part in which it waited for other replicas to begin an averaging
  // Cause of the rest. kWorker: another worker was not done yet. kDone: the run has no pipeline,
  // and this worker has nothing left to do.
  enum class Rest { kFill, kDrain, kWorker, kDone } rest = Rest::kWorker;
  friend bool operator==(const Gap&, const Gap&) = default;
};

// Returns the gaps of a worker's compute row from 0 to `end`, ascending. Imbalance is not among the
// causes: it belongs to a whole run and not to a moment.
[[nodiscard]] std::vector<Gap> gaps_of(const Lane& lane, const RunShape& shape, Nanos end);

// Returns when a worker was idle and why, as in "idle while the pipeline fills: 1 ms to 3 ms (2
// ms)" or "idle: 1.2 ms to 3.4 ms (2.2 ms): 200 µs waiting for a transfer, 2 ms waiting for another
// worker".
[[nodiscard]] std::string words_of(const Gap& gap, const Axis& axis);

}  // namespace pipedream::report
