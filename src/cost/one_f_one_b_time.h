// The time of 1F1B without a flush (pipedream): in the steady state, the slowest of all stages,
// averagings, links and loops decides (docs/planner.md#the-cost-model).
#pragma once

#include <vector>

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Returns the period: the largest limit of raise_to_busiest() and raise_to_loops(). An averaging
// overlaps the compute of one round, so with K > 1 rounds per update a stage also needs the time of
// K − 1 rounds and of the averaging, less what the averaging overlaps of the last backward.
[[nodiscard]] Period one_f_one_b_time(const PipelineCosts& costs);

// Raises `period` to the largest of three limits: the compute of a stage, the averaging of a stage
// once per update, and the busiest link. two_buffered_time() calls this too.
void raise_to_busiest(const PipelineCosts& costs, Period& period);
// Raises `period` to the loop limits. two_buffered_time() calls this too. An item returns to a
// stage after it has passed all later stages, forth and back, and the stage's depth limits how many
// items are on that way (loop_limit). This holds from every stage to the last one. It also holds
// from every stage i to every later stage j, with fewer items: stage j starts an item's backward
// only after it has begun d_j − 1 later items, so r_j·(d_j − 1) of the items that stage i has in
// flight wait at stage j.
void raise_to_loops(const PipelineCosts& costs, Period& period);

// Returns, for each stage, the time of one item through that stage and all later ones, forth and
// back, if nothing else is in flight.
[[nodiscard]] std::vector<Seconds> ways_of_item(const PipelineCosts& costs);

// Returns what it costs to drain the pipeline once, for a checkpoint, and to fill it again: the
// time by which N minibatches from an empty pipeline to an empty one take longer than N periods.
[[nodiscard]] Seconds drain_time(const PipelineCosts& costs, const Period& period);

}  // namespace pipedream::cost
