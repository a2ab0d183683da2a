// The time of GPipe: all forwards of a minibatch, then all backwards, then the update. Model
// parallelism is the same with one item per minibatch (docs/planner.md#the-cost-model).
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Returns gpipe_latency() of the stages and transfers, but at least the time of the busiest link.
[[nodiscard]] Period gpipe_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
