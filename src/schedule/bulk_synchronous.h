// Bulk-synchronous data parallelism (docs/systems.md#dp-bsp): every worker runs its own minibatch
// through all layers. All workers average their gradients while the backward still runs, and then
// update. Two workers:
//
//   F0 B0 X1 A1 U F2 B2 X2 A2 U        X: averaging starts, A: it is done
//   F1 B1 X1 A1 U F3 B3 X2 A2 U
//
// If the plan accumulates, only every K-th round averages and updates.
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires a plan with one stage. If the last round is not full, its average is over the
// minibatches that it has.
[[nodiscard]] Schedule bulk_synchronous(const plan::Plan& plan, const Extent& extent,
                                        const cost::Traits& traits);

}  // namespace pipedream::schedule
