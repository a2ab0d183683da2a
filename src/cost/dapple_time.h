// The time of DAPPLE: 1F1B inside each minibatch, a flush at its end, replicas that share items.
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// The latency of one update around the pivot stage (dapple_latency), divided by the minibatches of
// the update: one for each replica of the first stage. With one stage, the averaging overlaps the
// last backward instead.
[[nodiscard]] Period dapple_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
