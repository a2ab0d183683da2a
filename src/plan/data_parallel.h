// Data parallelism: every worker holds every layer.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

[[nodiscard]] inline Outcome plan_data_parallel(const Predictor& predictor) {
  Layout layout;
  layout.ends.push_back(predictor.cuts().last());
  layout.workers.emplace_back();
  for (int w = 0; w < predictor.network().workers(); ++w)
    layout.workers.back().push_back(WorkerId{w});
  return as_outcome(predictor, std::move(layout));
}

}  // namespace pipedream::plan
