// The time of asynchronous data parallelism: every worker pushes gradients to parameter servers and
// fetches weights from them, and nobody waits for anybody.
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Requires one stage. Pushing is half of an averaging and overlaps the backward; fetching is the
// other half and overlaps nothing. All workers together share the busiest link.
[[nodiscard]] Period asynchronous_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
