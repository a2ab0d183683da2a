// Asynchronous data parallelism (docs/systems.md#dp-asp): no worker waits for another. Every worker
// pushes the gradients of its minibatch to the parameter servers, and then fetches the weights that
// the servers hold. Two workers:
//
//   F0@0 B0@0 P0 G1 F2@1 B2@1 P2 G2        P: push, G: fetch; @ counts this worker's fetches
//   F1@0 B1@0 P1 G1 F3@1 B3@1 P3 G2
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires a plan with one stage.
[[nodiscard]] Schedule asynchronous(const plan::Plan& plan, const Extent& extent,
                                    const cost::Traits& traits);

}  // namespace pipedream::schedule
