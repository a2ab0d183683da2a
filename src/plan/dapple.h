// DAPPLE's planner: it looks for the partition, replicas and placement with the shortest pipeline
// latency around the pivot stage (docs/planner.md#the-planners). It takes the workers of a stage in
// one of three ways: fresh first, append first or scatter first (plan/placement.h). Replicas share
// every microbatch.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

struct DappleOptions {
  bool straight = false;        // no replicas
  std::int64_t budget = 5'000;  // predictions that the search may make (Search)
};
// Returns the best plan found and others of different forms. The prediction chooses microbatches,
// depths (warm-up) and recomputation within the memory. Requires a predictor for a system that
// flushes and whose replicas share items.
[[nodiscard]] Candidates plan_dapple(const Predictor& predictor, const DappleOptions& options = {});

}  // namespace pipedream::plan
