// Interleaved 1F1B (Narayanan et al., SC 2021; docs/systems.md#interleaved): every worker has v
// stages, so that filling and draining the pipeline take 1/v of the time. With n workers, stage s
// is on worker s mod n. Two workers, two stages each, two microbatches (the stage stands before the
// colon):
//
//   0:F0 0:F0.1 2:F0   2:F0.1           2:B0   2:B0.1 0:B0 0:B0.1 0:U 2:U
//        1:F0   1:F0.1 3:F0   3:B0 3:F0.1 3:B0.1 1:B0 1:B0.1 1:U 3:U
//
// Microbatches go through a worker's stages in groups of n: forwards from its first stage to its
// last, backwards from its last stage to its first (cost/interleaving.h). Inside a minibatch
// forwards and backwards alternate (1F1B). At its end the pipeline is flushed. If the plan
// accumulates, the microbatches of K minibatches run like those of one.
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires one worker per stage, and the same number of stages on every worker, dealt out in turn
// (plan/dealing.h).
[[nodiscard]] Schedule interleaved(const plan::Plan& plan, const Extent& extent,
                                   const cost::Traits& traits);

}  // namespace pipedream::schedule
