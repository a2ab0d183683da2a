// The time of bulk-synchronous data parallelism: every worker runs a minibatch, and gradients are
// averaged bucket by bucket during the backward.
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Requires one stage.
[[nodiscard]] Period bulk_synchronous_time(const PipelineCosts& costs);

// The period of `replicas` workers that each take `cycle` for a minibatch. The averaging limits it
// if `cycle` is more than 0.1 % longer than the compute, else the compute does.
[[nodiscard]] Period data_parallel_period(const StageCosts& stage, Seconds cycle);

}  // namespace pipedream::cost
