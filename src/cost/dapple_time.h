// The time of DAPPLE: 1F1B inside each minibatch, a flush at its end, replicas that share items
// (docs/planner.md#the-cost-model).
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Returns the latency of one update around the pivot stage (dapple_latency), divided by the number
// of minibatches in the update, one for each replica of the first stage. In a plan with one stage,
// the averaging overlaps the last backward. The period is at least the time of the busiest link.
[[nodiscard]] Period dapple_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
