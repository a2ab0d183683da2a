// DAPPLE: backwards start as early as they can (1F1B) inside each minibatch; flush at its end. A
// stage of depth d runs d forwards before its first backward: S−i (warm-up policy A), or up to
// 2(S−i)−1 (policy B), which hides transfers. Two stages, three microbatches, policy A:
//
//   F0 F0.1         B0 F0.2         B0.1 B0.2 U
//      F0   B0 F0.1    B0.1 F0.2 B0.2 U
//
// Replicas of a stage share every microbatch, and average their gradients at the end.
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires every worker in one stage only.
[[nodiscard]] Schedule dapple(const plan::Plan& plan, const Extent& extent,
                              const cost::Traits& traits);

}  // namespace pipedream::schedule
