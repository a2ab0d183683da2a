// Plans of two stages: all workers but one on the first stage, the last worker on the second, as
// the PipeDream paper's config 15-1.
#pragma once

#include "plan/planner.h"

namespace pipedream::bench {

// Returns the plan with the best cut. Refused if there is only one worker or one layer, or if no
// cut fits the memory.
[[nodiscard]] inline plan::Outcome plan_all_but_one(const plan::Predictor& predictor) {
  const int workers = predictor.links().workers();
  std::optional<std::pair<plan::Rank, plan::Layout>> best;
  for (std::size_t cut = 1; workers > 1 && cut < predictor.cuts().last(); ++cut) {
    plan::Layout layout;
    layout.ends = {0, cut, predictor.cuts().last()};
    layout.workers.resize(2);
    for (int w = 0; w < workers; ++w)
      layout.workers[w + 1 < workers ? 0 : 1].push_back(WorkerId{w});
    const plan::Rank found = plan::rank(predictor.predict(layout));
    if (!best || found < best->first) best.emplace(found, std::move(layout));
  }
  if (!best) return plan::Refusal{"two stages need two workers and two layers", {}};
  return plan::as_outcome(predictor, std::move(best->second));
}

}  // namespace pipedream::bench
