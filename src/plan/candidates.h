// The plans that a search starts from (plan/search.h; docs/planner.md#the-planners).
#pragma once

#include "plan/search.h"

namespace pipedream::plan {

// Offers plans to `search`, all placed in worker order. For each number in `copies`: data
// parallelism, and the drafts of plan/in_order.h or, if there are none, the stages of `relaxation`.
// As a single pipeline: one worker alone, the drafts of plan/by_machine.h, balanced pipelines of
// many lengths without replicas, and two-stage plans in which one stage has a single worker.
// `straight`: only plans without replicas are wanted.
void offer_candidates(Search& search, const Predictor& predictor, const Relaxation& relaxation,
                      const std::vector<int>& copies, bool straight);

}  // namespace pipedream::plan
