// The time of an interleaved pipeline: several stages per worker, 1F1B inside each minibatch, a
// flush at its end. An estimate: its order is too irregular for a closed form.
#pragma once

#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Requires stages that are dealt out in turn: stage s is on worker s mod `costs.workers`. The
// busiest worker runs all its items, or waits for them to come back (loop_limit). Before it starts
// and after it ends, an item passes the first stages of the other workers, and their transfers.
[[nodiscard]] Period interleaved_time(const PipelineCosts& costs);

}  // namespace pipedream::cost
