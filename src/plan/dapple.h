// DAPPLE's planner (SYSTEMS §2): the partition, replicas and placement with the shortest pipeline
// latency around the pivot stage. A stage takes machines that nobody uses yet, fills up those in
// use, or is spread over them; replicas share every microbatch.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

// The predictor's rule must be Rule::kDapple. Microbatches, warm-up depth and recomputation are
// the prediction's choice, within the memory.
[[nodiscard]] Outcome plan_dapple(const Predictor& predictor, std::int64_t budget = 5'000);

// The same with the plans that come next: the latency is a formula, and whoever can simulate may
// find another of them to be the fastest.
struct DappleAnswers {
  Outcome best;
  std::vector<Answer> few;  // the best among them, the best first; none where nothing fits
};
[[nodiscard]] DappleAnswers plan_dapple_few(const Predictor& predictor,
                                            std::int64_t budget = 5'000);

}  // namespace pipedream::plan
