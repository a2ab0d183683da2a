// Tests the list of the best plans that a search remembers.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/system_rules_testing.h"
#include "plan/candidates.h"
#include "plan/plan_testing.h"
#include "plan/search.h"

namespace pipedream::plan {
namespace {

RC_GTEST_PROP(SearchProperty, RemembersTheBestFewTheBestFirst, ()) {
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

  const Outcome outcome = search.outcome();
  const std::vector<Answer> few = search.best_few();
  const auto* best = std::get_if<Answer>(&outcome);
  RC_ASSERT(few.empty() == (best == nullptr));
  if (best == nullptr) return;
  RC_ASSERT(few.size() <= static_cast<std::size_t>(Search::kFew));
  RC_ASSERT(few.front().layout.ends == best->layout.ends);
  RC_ASSERT(few.front().layout.workers == best->layout.workers);
  RC_ASSERT(few.front().objective == best->objective);
  for (std::size_t i = 0; i < few.size(); ++i) {
    RC_ASSERT(!few[i].prediction.miss);
    RC_ASSERT(few[i].objective == few[i].prediction.per_minibatch);
    RC_ASSERT(few[i].bound == best->bound);
    for (std::size_t j = 0; j < i; ++j) {
      RC_ASSERT(few[j].objective <= few[i].objective);
      RC_ASSERT(few[j].layout.ends != few[i].layout.ends ||
                few[j].layout.workers != few[i].layout.workers);
    }
  }
  // Every draft that fits is in the list, or the list is full and its last plan is as good.
  int used = 0;
  for (const Draft& draft : offered) {
    int workers = 0;
    for (const Draft::Stage& stage : draft.stages) workers += stage.replicas;
    if (workers > cluster.workers()) continue;
    ++used;
    const Layout layout = place(draft, predictor.links());
    const Prediction prediction = predictor.predict(layout);
    const bool listed = std::any_of(few.begin(), few.end(), [&](const Answer& answer) {
      return answer.layout.ends == layout.ends && answer.layout.workers == layout.workers;
    });
    if (prediction.miss) RC_ASSERT(!listed);
    if (!prediction.miss && !listed) {
      RC_ASSERT(few.size() == static_cast<std::size_t>(Search::kFew));
      RC_ASSERT(prediction.per_minibatch >= few.back().objective);
    }
  }
  RC_LOG() << used << " drafts were possible\n";
}

}  // namespace
}  // namespace pipedream::plan
