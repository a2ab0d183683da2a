// PipeDream-2BW (docs/systems.md#2bw): 1F1B over microbatches without a flush. The gradients of a
// whole minibatch make one update. Every microbatch of minibatch t uses version max(0, t − 1), so
// that two versions suffice. Two stages, two microbatches (0.1 is microbatch 1 of minibatch 0):
//
//   F0@0 F0.1@0      B0@0 F1@0 B0.1@0 U0>1 F1.1@0 B1@0 F2@1 …
//        F0@0   B0@0 F0.1@0 B0.1@0 U0>1 F1@0 B1@0 …
//
// Replicas are r pipelines side by side. Replica i takes the minibatches i, i + r, i + 2r, …; each
// round of r minibatches gives one update, and t counts rounds. If the plan accumulates, K rounds
// give one update, and t counts these.
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires that every worker is in one stage only, that all stages have the same number of
// replicas, and that no stage is deeper than cost::most_in_flight allows.
[[nodiscard]] Schedule two_buffered(const plan::Plan& plan, const Extent& extent,
                                    const cost::Traits& traits);

}  // namespace pipedream::schedule
