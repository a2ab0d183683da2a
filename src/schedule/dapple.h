// DAPPLE (docs/systems.md#dapple): inside each minibatch, backwards start as early as possible
// (1F1B); at its end the pipeline is flushed. A stage of depth d runs d forwards before its first
// backward. For stage i of S, counted from 0, DAPPLE's warm-up policy A takes d = S − i. Policy B
// takes up to 2(S − i) − 1, which hides transfers. Two stages, three microbatches, policy A:
//
//   F0 F0.1         B0 F0.2         B0.1 B0.2 U
//      F0   B0 F0.1    B0.1 F0.2 B0.2 U
//
// If the plan accumulates, the microbatches of K minibatches run in this way one after another,
// without a flush in between, and the update comes after the last of them.
//
// The replicas of a stage share every microbatch and average their gradients at the minibatch's
// end.
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires that every worker is in one stage only.
[[nodiscard]] Schedule dapple(const plan::Plan& plan, const Extent& extent,
                              const cost::Traits& traits);

}  // namespace pipedream::schedule
