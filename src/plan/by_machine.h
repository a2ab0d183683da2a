// Pipelines that respect machines: a stage lies inside one machine or on whole ones, so that small
// groups average their gradients over the fast links inside. For clusters that are too large for
// the dynamic programme of plan/in_order.h.
#pragma once

#include "plan/search.h"

namespace pipedream::plan {

// Drafts of the shortest time per minibatch that bisection finds, for stages that pay for compute,
// averaging and the bytes that enter their machine; the fastest last. Starting points, no answers.
// None on a cluster of one level.
[[nodiscard]] std::vector<Draft> drafts_by_machine(const Predictor& predictor, double fastest,
                                                   double slowest);

}  // namespace pipedream::plan
