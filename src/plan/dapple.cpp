#include "plan/dapple.h"

#include "core/check.h"
#include "plan/candidates.h"

namespace pipedream::plan {

DappleAnswers plan_dapple_few(const Predictor& predictor, const DappleOptions& options) {
  PD_CHECK(predictor.traits().flushes && predictor.traits().shares_items());
  const Space space{
      .placements = {Placement::kAppendFirst, Placement::kFreshFirst, Placement::kScatterFirst},
      .straight = options.straight};
  const Relaxation relaxation(predictor, options.straight);
  Search search(predictor, relaxation, space, options.budget);
  offer_candidates(search, predictor, relaxation, space.copies, space.straight);
  search.climb();
  search.exhaust();
  return {search.outcome(), search.best_few()};
}

Outcome plan_dapple(const Predictor& predictor, const DappleOptions& options) {
  return plan_dapple_few(predictor, options).best;
}

}  // namespace pipedream::plan
