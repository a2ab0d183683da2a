// The planner of this project (docs/planner.md#the-planners). A stage may have any number of
// workers, which are taken in worker order. An example is 15-1 on 4 servers of 4 workers. The plan
// is one pipeline, or several equal pipelines side by side. The planner chooses partition,
// replicas, placement and depths together by the default cost model, and says by how much the best
// plan can be faster at most. plan/dapple.h searches in the same way for systems that flush.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

struct GeneralOptions {
  bool straight = false;         // no replicas
  std::int64_t budget = 10'000;  // predictions that the search may make (Search)
};

// Returns the best plan found, others of different forms, and the plan of PipeDream's own planner
// (plan/hierarchical.h) if that is small work. The bound holds for all plans of the form above.
// Requires a predictor for a system that does not flush.
[[nodiscard]] Candidates plan_general(const Predictor& predictor,
                                      const GeneralOptions& options = {});

}  // namespace pipedream::plan
