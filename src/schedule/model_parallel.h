// Model parallelism without a pipeline (docs/systems.md#mp): one minibatch at a time passes all
// stages, forward and then backward.
//
//   F0             B0 U F1             B1 U
//      F0       B0 U       F1       B1 U
//         F0 B0 U             F1 B1 U
//
// If the plan accumulates, only every K-th minibatch ends with an update.
#pragma once

#include "schedule/schedule.h"

namespace pipedream::schedule {

// Requires one worker per stage.
[[nodiscard]] Schedule model_parallel(const plan::Plan& plan, const Extent& extent,
                                      const cost::Traits& traits);

}  // namespace pipedream::schedule
