// GPipe (docs/systems.md#gpipe): all forwards of a minibatch's microbatches, then all backwards,
// then one update; the pipeline is flushed after every minibatch. Two stages, three microbatches:
//
//   F0 F0.1 F0.2                B0 B0.1 B0.2 U
//      F0   F0.1 F0.2 B0 B0.1 B0.2 U
//
// If the plan accumulates, K minibatches follow each other in this way, and one update comes after
// the last of them. So a stage keeps no more activations than those of one minibatch.
//
// A stage that recomputes keeps only its inputs, and runs the recomputation C0 before B0.
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires one worker per stage.
[[nodiscard]] Schedule gpipe(const plan::Plan& plan, const Extent& extent,
                             const cost::Traits& traits);

}  // namespace pipedream::schedule
