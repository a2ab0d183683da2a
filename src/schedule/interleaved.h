// Interleaved 1F1B (Narayanan et al., SC 2021): every worker has several stages, v of them, so that
// filling and draining take 1/v of the time. Stage s is on worker s mod n. Two workers, two stages
// each, two microbatches (the stage stands before the colon):
//
//   0:F0 0:F0.1 2:F0   2:F0.1           2:B0   2:B0.1 0:B0 0:B0.1 0:U 2:U
//        1:F0   1:F0.1 3:F0   3:B0 3:F0.1 3:B0.1 1:B0 1:B0.1 1:U 3:U
//
// Microbatches go in groups of n through a worker's stages, first to last; backwards the other way
// round (cost/interleaving.h). Inside a minibatch it is 1F1B, at its end the pipeline is flushed.
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires one worker a stage, and as many stages on every worker, dealt out in turn.
[[nodiscard]] Schedule interleaved(const plan::Plan& plan, const Extent& extent,
                                   const cost::Traits& traits);

}  // namespace pipedream::schedule
