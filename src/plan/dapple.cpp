#include "plan/dapple.h"

#include "core/check.h"
#include "plan/candidates.h"

namespace pipedream::plan {

DappleAnswers plan_dapple_few(const Predictor& predictor, std::int64_t budget) {
  PD_CHECK(predictor.conditions().rule == cost::Rule::kDapple);
  const Space space{
      .placements = {Placement::kAppendFirst, Placement::kFreshFirst, Placement::kScatterFirst}};
  const Relaxation relaxation(predictor, false);
  Search search(predictor, relaxation, space, budget);
  offer_candidates(search, predictor, relaxation, space.copies, space.straight);
  search.climb();
  search.exhaust();
  return {search.outcome(), search.best_few()};
}

Outcome plan_dapple(const Predictor& predictor, std::int64_t budget) {
  return plan_dapple_few(predictor, budget).best;
}

}  // namespace pipedream::plan
