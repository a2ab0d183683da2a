// The time of PipeDream-2BW: 1F1B without a flush, with two weight versions, which leave little
// time to average gradients (docs/planner.md#the-cost-model).
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Returns the largest of the limits of one_f_one_b_time() and one more for stages with replicas:
// the minibatch after the next one waits for the averaging, and all but one of the items that a
// replica has in flight run after the averaging.
[[nodiscard]] Period two_buffered_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
