#include "plan/dapple.h"

#include "core/check.h"
#include "plan/candidates.h"

namespace pipedream::plan {
namespace {

Candidates search_pivots(const Predictor& predictor, const DappleOptions& options) {
  Space space{.placements = {Placement::kAppendFirst}, .straight = options.straight};
  if (predictor.links().levels() > 1)  // on one level all placements are the same
    space.placements.insert(space.placements.end(),
                            {Placement::kFreshFirst, Placement::kScatterFirst});
  const Relaxation relaxation(predictor, options.straight);
  Search search(predictor, relaxation, space, options.budget);
  offer_candidates(search, predictor, relaxation, space.copies, space.straight);
  search.climb();
  search.exhaust();
  search.polish();
  return search.candidates();
}

}  // namespace

Candidates plan_dapple(const Predictor& predictor, const DappleOptions& options) {
  PD_CHECK(predictor.traits().flushes && predictor.traits().shares_items());
  if (options.straight) return search_pivots(predictor, options);
  const std::int64_t part = options.budget / kStraightPart;
  return joined(
      {search_pivots(predictor, {false, options.budget}), search_pivots(predictor, {true, part})});
}

}  // namespace pipedream::plan
