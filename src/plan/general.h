// The planner of this project: stages may take any number of workers, laid out over the servers in
// order (15-1 on 4 servers of 4 is one such plan), as one pipeline or as several equal ones side by
// side. It chooses partition, replicas, placement and depth together by the default cost model, and
// says how far from the best it can be at most. (The synchronous systems, with microbatches and
// recomputation, are searched in the same way: plan/dapple.h.)
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

struct GeneralOptions {
  bool straight = false;         // no replicas
  std::int64_t budget = 10'000;  // predictions; the answer depends on it, never on a clock
};

// Requires a predictor for a system that does not flush. The bound is for plans of the form above.
[[nodiscard]] Outcome plan_general(const Predictor& predictor, const GeneralOptions& options = {});

}  // namespace pipedream::plan
