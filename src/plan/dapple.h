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
// Returns the best plan found. The prediction chooses microbatches, depths (warm-up) and
// recomputation within the memory. Requires a predictor for a system that flushes and whose
// replicas share items.
[[nodiscard]] Outcome plan_dapple(const Predictor& predictor, const DappleOptions& options = {});

// The best plans by the latency formula. In a simulation, another plan of `few` may be faster than
// `best`.
struct DappleAnswers {
  Outcome best;
  std::vector<Answer> few;  // at most Search::kFew, fastest first; empty if nothing fits
};
// Returns the answer of plan_dapple() and the plans that come next.
[[nodiscard]] DappleAnswers plan_dapple_few(const Predictor& predictor,
                                            const DappleOptions& options = {});

}  // namespace pipedream::plan
