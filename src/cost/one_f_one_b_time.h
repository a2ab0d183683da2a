// The time of 1F1B without a flush (pipedream): in the steady state the slowest of all stages,
// averagings, links and loops decides.
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

[[nodiscard]] Period one_f_one_b_time(const PipelineCosts& costs);

// Two of its limits, for pipelines that have them too.
//
// A stage's compute, its averaging once per round of its replicas, and the busiest link.
void raise_to_busiest(const PipelineCosts& costs, Period& period);
// An item returns to a stage after passing all that follows, forth and back, and no more items than
// the stage's depth are on that way (loop_limit). That holds from every stage to the end, and from
// every stage i to every later stage j: j starts an item's backward once it has begun d_j − 1 later
// items, so r_j·(d_j − 1) of the items that i has in flight wait at j and do not fill the way.
void raise_to_loops(const PipelineCosts& costs, Period& period);

}  // namespace pipedream::cost
