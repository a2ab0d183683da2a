#include "plan/general.h"

#include <algorithm>

#include "core/check.h"
#include "plan/candidates.h"
#include "plan/hierarchical.h"

namespace pipedream::plan {
namespace {

constexpr double kMostHierarchicalWork = 3e7;  // steps, as hierarchical_work(); about 30 ms
constexpr double kMostCopyWork = 5e6;          // cuts² × different numbers of copies

std::vector<int> divisors(int number) {
  std::vector<int> all;
  for (int d = 1; d <= number; ++d)
    if (number % d == 0) all.push_back(d);
  return all;
}

// Returns the plan of PipeDream's own planner, with its own depths and with those that the
// prediction chooses; none if that is too much work or does not fit.
std::vector<Layout> hierarchical_layouts(const Predictor& predictor, bool straight) {
  if (hierarchical_work(predictor) > kMostHierarchicalWork) return {};
  const Outcome outcome = plan_hierarchical(predictor, {.straight = straight});
  const auto* answer = std::get_if<Answer>(&outcome);
  if (answer == nullptr) return {};
  std::vector<Layout> layouts(2, answer->layout);
  layouts.back().depths.clear();
  return layouts;
}

Candidates search_pipelines(const Predictor& predictor, const GeneralOptions& options) {
  const int workers = predictor.links().workers();
  Space space;
  space.straight = options.straight;
  if (!options.straight) space.copies = divisors(workers);
  const Relaxation relaxation(predictor, options.straight);
  Search search(predictor, relaxation, space, options.budget);
  const auto cuts = static_cast<double>(predictor.cuts().count());
  const bool few = cuts * cuts * static_cast<double>(space.copies.size()) <= kMostCopyWork;
  offer_candidates(search, predictor, relaxation, few ? space.copies : std::vector<int>{1},
                   options.straight);
  search.climb();
  const std::vector<Layout> hierarchical = hierarchical_layouts(predictor, options.straight);
  for (const Layout& layout : hierarchical) search.offer(layout);
  search.exhaust();
  search.polish();
  Candidates candidates = search.candidates();
  if (hierarchical.empty()) return candidates;
  return joined({std::move(candidates), as_candidates(predictor, hierarchical)});
}

}  // namespace

Candidates plan_general(const Predictor& predictor, const GeneralOptions& options) {
  PD_CHECK(!predictor.traits().flushes);
  if (options.straight) return search_pipelines(predictor, options);
  const std::int64_t part = options.budget / kStraightPart;
  return joined({search_pipelines(predictor, {false, options.budget}),
                 search_pipelines(predictor, {true, part})});
}

}  // namespace pipedream::plan
