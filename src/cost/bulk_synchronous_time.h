// The time of bulk-synchronous data parallelism (dp-bsp): every worker runs a minibatch of its own,
// and gradients are averaged bucket by bucket during the backward (docs/planner.md#the-cost-model).
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Returns the period of a plan with one stage.
[[nodiscard]] Period bulk_synchronous_time(const PipelineCosts& costs);

// Returns the period of `stage.replicas` workers that each take `cycle` for `minibatches`
// minibatches. The limit is the averaging if `cycle` is more than 0.1 % longer than their compute,
// else the compute.
[[nodiscard]] Period data_parallel_period(const StageCosts& stage, Seconds cycle,
                                          int minibatches = 1);

}  // namespace pipedream::cost
