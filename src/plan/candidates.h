// Plans that are worth a look before a search begins.
#pragma once

#include "plan/search.h"

namespace pipedream::plan {

// Data parallelism, the relaxation's own stages, those of plan/in_order.h, even straight pipelines
// of every length, and one worker split off at either end: for each number of copies, in order.
void offer_candidates(Search& search, const Predictor& predictor, const Relaxation& relaxation,
                      const std::vector<int>& copies, bool straight);

}  // namespace pipedream::plan
