// DAPPLE's planner: the partition, replicas and placement with the shortest pipeline latency around
// the pivot stage (docs/planner.md). The workers of a stage are taken from machines that no stage
// uses yet (fresh first), from machines in use (append first), or from all machines evenly (scatter
// first). Replicas share every microbatch.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

// Requires a predictor for a system that flushes and whose replicas share items. The prediction
// chooses microbatches, warm-up depth and recomputation, within the memory.
struct DappleOptions {
  bool straight = false;        // no replicas
  std::int64_t budget = 5'000;  // predictions; the answer depends on it, never on a clock
};
[[nodiscard]] Outcome plan_dapple(const Predictor& predictor, const DappleOptions& options = {});

// The best plan and the ones that come next. The latency is a formula, so a simulation may find
// another of these plans to be the fastest.
struct DappleAnswers {
  Outcome best;
  std::vector<Answer> few;  // in ascending order of latency, `best` first; empty if nothing fits
};
[[nodiscard]] DappleAnswers plan_dapple_few(const Predictor& predictor,
                                            const DappleOptions& options = {});

}  // namespace pipedream::plan
