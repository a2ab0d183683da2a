// The time of an interleaved pipeline: several stages per worker, 1F1B inside each minibatch, a
// flush at its end (docs/planner.md#the-cost-model). It is an estimate, because the order of ops is
// too irregular for a closed form.
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Returns the estimated time of a minibatch, the sum of two parts. First, the busiest worker runs
// all its items, or waits for them to come back (loop_limit). Second, the pipeline fills and
// drains: an item passes the first stages of all workers but one, and the transfers between them,
// forth and back. The period is at least the time of one item through all stages and back, and at
// least the time of the busiest link. Requires stages that are dealt out in turn: stage s is on
// worker s mod `costs.workers`.
[[nodiscard]] Period interleaved_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
