// Data parallelism, bulk synchronous: every worker runs its own minibatch through all layers, all
// average their gradients while the backward still runs, and all update. Two workers:
//
//   F0 B0 X1 A1 U F2 B2 X2 A2 U        X: averaging starts, A: it is done
//   F1 B1 X1 A1 U F3 B3 X2 A2 U
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires one stage. A last round that is not full averages over the minibatches there are.
[[nodiscard]] Schedule bulk_synchronous(const plan::Plan& plan, const Extent& extent,
                                        const cost::Traits& traits);

}  // namespace pipedream::schedule
