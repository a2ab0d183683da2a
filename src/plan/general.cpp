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

void offer_hierarchical(Search& search, const Predictor& predictor, bool straight) {
  if (hierarchical_work(predictor) > kMostHierarchicalWork) return;
  const Outcome outcome = plan_hierarchical(predictor, {.straight = straight});
  if (const auto* answer = std::get_if<Answer>(&outcome)) {
    Layout layout = answer->layout;
    search.offer(layout);
    layout.depths.clear();  // a second time, with the depths that the prediction chooses
    search.offer(layout);
  }
}

}  // namespace

Outcome plan_general(const Predictor& predictor, const GeneralOptions& options) {
  PD_CHECK(!predictor.traits().flushes);
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
  offer_hierarchical(search, predictor, options.straight);
  search.exhaust();
  return search.outcome();
}

}  // namespace pipedream::plan
