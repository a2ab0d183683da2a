// The time of asynchronous data parallelism (dp-asp): every worker pushes gradients to parameter
// servers and fetches weights from them, and no worker waits for another
// (docs/planner.md#the-cost-model).
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Returns the period of a plan with one stage. A push takes half the time of an averaging and
// overlaps the backward. A fetch takes the other half and overlaps nothing. The period is at least
// the time of the busiest link, which the traffic of all workers shares.
[[nodiscard]] Period asynchronous_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
