// The time of PipeDream-2BW: 1F1B without a flush, whose two weight versions leave less time for
// averaging gradients.
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// As one_f_one_b_time. Besides, the minibatch after the next one waits for the averaging, and all
// items that a replica has in flight but one start after it.
[[nodiscard]] Period two_buffered_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
