// Pipelines whose stages lie inside one machine or on whole machines, so that small groups of
// replicas average their gradients over the fast links inside (docs/planner.md#the-planners). For
// clusters that are too large for the dynamic programme of plan/in_order.h.
#pragma once

#include "plan/search.h"

namespace pipedream::plan {

// Bisects for the shortest time per minibatch between `fastest`, a lower bound, and `slowest`, both
// in seconds. Returns a draft for each tried time within which there are stages, the fastest draft
// last. Stages pay for their compute, their averaging and the bytes that they receive; nothing else
// limits the time, so the drafts are starting points for a search and not answers. Returns no draft
// on a cluster of one level.
[[nodiscard]] std::vector<Draft> drafts_by_machine(const Predictor& predictor, double fastest,
                                                   double slowest);

}  // namespace pipedream::plan
