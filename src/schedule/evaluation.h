// The schedule of an evaluation: forwards alone, over held-out data.
#pragma once

#include "plan/plan.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// Returns a schedule that runs every item forward through all stages. Version 0 stands for the
// weights as they are when it starts. Two workers with one stage each:
//   F0 F1 F2 F3
//      F0 F1 F2 F3
// A worker with several stages takes minibatches in groups, one minibatch per worker of the plan.
// It runs a whole group through one stage before it goes on to its next stage, so that the other
// workers have work meanwhile.
[[nodiscard]] Schedule evaluation(const plan::Plan& plan, const Extent& extent, Replicas kind);

}  // namespace pipedream::schedule
