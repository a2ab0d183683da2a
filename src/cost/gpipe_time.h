// The time of GPipe: all forwards of a minibatch, then all backwards, then the update. Model
// parallelism is the same with one item.
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

[[nodiscard]] Period gpipe_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
