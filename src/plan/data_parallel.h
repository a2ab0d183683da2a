// Data parallelism: every worker holds every layer (docs/planner.md#the-planners).
#pragma once

#include "plan/placement.h"
#include "plan/planner.h"

namespace pipedream::plan {

// Returns the plan of one stage on all workers, or a refusal if it does not fit the memory.
[[nodiscard]] inline Outcome plan_data_parallel(const Predictor& predictor) {
  Layout layout;
  layout.ends.push_back(predictor.cuts().last());
  const int workers = predictor.links().workers();
  layout.workers.push_back(workers_in_order(0, workers, 1, workers));
  return as_outcome(predictor, std::move(layout));
}

}  // namespace pipedream::plan
