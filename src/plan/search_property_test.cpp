// Tests which plans a search keeps.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/system_rules_testing.h"
#include "plan/candidates.h"
#include "plan/plan_testing.h"
#include "plan/search.h"

namespace pipedream::plan {
namespace {

bool is_possible(const Draft& draft, const cluster::Cluster& cluster) {
  int workers = 0;
  for (const Draft::Stage& stage : draft.stages) workers += stage.replicas;
  return workers <= cluster.workers();
}

bool is_straight(const Layout& layout) {
  return std::all_of(layout.workers.begin(), layout.workers.end(),
                     [](const std::vector<WorkerId>& workers) { return workers.size() == 1; });
}

RC_GTEST_PROP(SearchProperty, KeepsTheBestPlansAndTheBestOfEachForm, ()) {
  const profile::Profile profile = any_profile({.layers = 5});
  const cluster::Cluster cluster = any_cluster({.workers = 4});
  const Cuts cuts(profile);
  const Predictor predictor(cuts, cluster, {.rules = cost::kDapple, .memory = any_memory()});
  const Relaxation relaxation(predictor, false);
  Search search(predictor, relaxation, {}, 100'000);
  std::vector<Draft> offered;
  for (int i = test::any_of_range(1, 30); i > 0; --i) {
    Draft draft;
    for (std::size_t from = 0; from < cuts.last();) {
      std::size_t end = cuts.last();
      if (test::any_of_range(0, 3) > 0)
        end = from + 1 + pipedream::test::any_index(cuts.last() - from);
      if (!cuts.precedes(from, end)) end = cuts.last();
      draft.stages.push_back({end, test::any_of_range(1, 3)});
      from = end;
    }
    search.offer(draft);
    offered.push_back(draft);
  }
  if (offered.empty()) return;
  search.offer(Draft{1, {{cuts.last(), 1}}});  // a draft that is valid on every cluster

  const Candidates candidates = search.candidates();
  const auto* found = std::get_if<std::vector<Answer>>(&candidates);
  if (found == nullptr) {
    for (const Draft& draft : offered)
      if (is_possible(draft, cluster))
        RC_ASSERT(predictor.predict(place(draft, predictor.links())).miss.has_value());
    return;
  }
  const std::vector<Answer>& kept = *found;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    RC_ASSERT(!kept[i].prediction.miss);
    RC_ASSERT(kept[i].objective == kept[i].prediction.per_minibatch);
    RC_ASSERT(kept[i].bound == kept.front().bound);
    for (std::size_t j = 0; j < i; ++j) {
      RC_ASSERT(kept[j].objective <= kept[i].objective);
      RC_ASSERT(!(kept[j].layout == kept[i].layout));
    }
  }
  // Every draft that fits is kept, unless as many plans as are kept are as good: of all plans, and
  // of the plans of its form.
  for (const Draft& draft : offered) {
    if (!is_possible(draft, cluster)) continue;
    const Layout layout = place(draft, predictor.links());
    const Prediction prediction = predictor.predict(layout);
    if (prediction.miss || std::any_of(kept.begin(), kept.end(), [&](const Answer& answer) {
          return answer.layout == layout;
        }))
      continue;
    std::size_t as_good = 0;
    std::size_t of_form = 0;
    for (const Answer& answer : kept) {
      if (order(answer.prediction) > order(prediction)) continue;
      ++as_good;
      of_form += answer.layout.stages() == layout.stages() &&
                         is_straight(answer.layout) == is_straight(layout)
                     ? 1
                     : 0;
    }
    RC_ASSERT(as_good >= Kept::kOfAll);
    RC_ASSERT(of_form >= Kept::kOfForm);
  }
}

}  // namespace
}  // namespace pipedream::plan
