// Forwards alone: a pass over held-out data.
#pragma once

#include "plan/plan.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Every item forward through all stages with version 0, the weights as they are. Worker 0 and 1 of
// a straight pipeline:
//   F0 F1 F2 F3
//      F0 F1 F2 F3
// A worker of several stages takes as many items at a time through each of them as there are
// workers, so that the others have work meanwhile.
[[nodiscard]] Schedule evaluation(const plan::Plan& plan, const Extent& extent, Replicas kind);

}  // namespace pipedream::schedule
