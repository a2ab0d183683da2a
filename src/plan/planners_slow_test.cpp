// Compares every planner with the best of all plans in its space, by the planner's own objective.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/system_rules_testing.h"
#include "plan/balance.h"
#include "plan/dapple.h"
#include "plan/general.h"
#include "plan/plan_testing.h"
#include "plan/relaxation.h"
#include "plan/two_buffered.h"

namespace pipedream::plan {
namespace {

using test::any_of_range;

Setting any_setting(const cost::SystemRules& rules) {
  Setting setting;
  setting.rules = rules;
  setting.memory = any_memory();
  setting.optimiser_copies = any_of_range(0, 3);
  setting.exchange = static_cast<cost::Exchange>(any_of_range(0, 3));
  return setting;
}

// Returns the layout of equal pipelines whose stages take the workers in order. Written
// independently of place(), which it checks.
Layout in_order(const std::vector<std::size_t>& ends, const std::vector<int>& replicas, int copies,
                int workers) {
  Layout layout;
  layout.ends = ends;
  int next = 0;
  for (const int count : replicas) {
    layout.workers.emplace_back();
    for (int b = 0; b < count * copies; ++b)  // minibatch b goes to copy b mod copies
      layout.workers.back().push_back(
          WorkerId{(b % copies) * (workers / copies) + next + b / copies});
    next += count;
  }
  return layout;
}

void look_at_all(const Predictor& predictor, bool straight, Best& best) {
  const int workers = predictor.links().workers();
  for_each_partition(predictor.cuts(), [&](const std::vector<std::size_t>& ends) {
    for (int copies = 1; copies <= (straight ? 1 : workers); ++copies) {
      if (workers % copies != 0) continue;
      for_each_counts(ends.size() - 1, workers / copies, [&](const std::vector<int>& counts) {
        if (straight && *std::max_element(counts.begin(), counts.end()) > 1) return;
        best.look_at(in_order(ends, counts, copies, workers));
      });
    }
  });
}

RC_GTEST_PROP(SlowPlannersProperty, GeneralPlannerFindsTheBestPlanOfItsSpace, ()) {
  const profile::Profile profile = any_profile({});
  const cluster::Cluster cluster = any_cluster({});
  const Cuts cuts = Cuts(profile).accumulating(any_accumulation());
  const Predictor predictor(cuts, cluster, any_setting(cost::kPipedream));
  const bool straight = any_of_range(0, 4) == 0;
  Best best(predictor);
  look_at_all(predictor, straight, best);
  const Outcome outcome =
      best_of(plan_general(predictor, {.straight = straight, .budget = 1'000'000}));
  // The planner also considers the hierarchical answer, which may be better and outside of its
  // space.
  const auto* answer = std::get_if<Answer>(&outcome);
  if (answer != nullptr && (!best.fits() || answer->objective.count() < best.time())) {
    RC_TAG("better than its space");
    RC_ASSERT(!predictor.predict(answer->layout).miss);
    RC_ASSERT(*answer->bound <= answer->objective);
    return;
  }
  expect_best(outcome, best);
}

RC_GTEST_PROP(SlowPlannersProperty, TheBoundHoldsWhateverTheBudget, ()) {
  const profile::Profile profile = any_profile({});
  const cluster::Cluster cluster = any_cluster({});
  const Cuts cuts = Cuts(profile).accumulating(any_accumulation());
  const Predictor predictor(cuts, cluster, any_setting(cost::kPipedream));
  Best best(predictor);
  look_at_all(predictor, false, best);
  RC_PRE(best.fits());
  RC_ASSERT(Relaxation(predictor, false).bound() <= best.time() * (1 + 1e-9));
  const Outcome outcome = best_of(plan_general(predictor, {.budget = any_of_range(1, 60)}));
  if (const auto* answer = std::get_if<Answer>(&outcome)) {
    RC_ASSERT(answer->bound->count() <= best.time() * (1 + 1e-9));
    RC_ASSERT(*answer->bound <= answer->objective);
    RC_ASSERT(!answer->prediction.miss);
  }
}

RC_GTEST_PROP(SlowPlannersProperty, DapplePlannerFindsTheBestPlanOfItsSpace, ()) {
  const Limits limits{any_of_range(0, 20) == 0 ? 6 : 4, 4};
  const profile::Profile profile = any_profile(limits);
  const cluster::Cluster cluster = any_cluster(limits);
  const Cuts cuts = Cuts(profile).accumulating(any_accumulation());
  Setting setting = any_setting(cost::kDapple);
  if (any_of_range(0, 2) == 0) setting.recompute = Recompute::kWhereNeeded;
  if (any_of_range(0, 2) == 0) setting.microbatches = any_of_range(1, 9);
  const Predictor predictor(cuts, cluster, setting);
  constexpr Placement kPolicies[] = {Placement::kFreshFirst, Placement::kAppendFirst,
                                     Placement::kScatterFirst};
  Best best(predictor);
  for_each_partition(cuts, [&](const std::vector<std::size_t>& ends) {
    for_each_counts(ends.size() - 1, cluster.workers(), [&](const std::vector<int>& counts) {
      for (int code = 0; code < static_cast<int>(std::pow(3, counts.size())); ++code) {
        Layout layout;
        layout.ends = ends;
        Places places(predictor.links());
        for (int rest = code; const int count : counts) {
          layout.workers.push_back(places.take(count, kPolicies[rest % 3]));
          rest /= 3;
        }
        best.look_at(layout);
      }
    });
  });
  expect_best(best_of(plan_dapple(predictor, {.budget = 1'000'000})), best);
}

RC_GTEST_PROP(SlowPlannersProperty, BalancedSplitHasTheSmallestLargestBlock, ()) {
  std::vector<std::int64_t> sizes;
  for (int i = any_of_range(1, 11); i > 0; --i) sizes.push_back(any_of_range(0, 20));
  const int blocks = any_of_range(1, static_cast<int>(sizes.size()) + 1);
  const auto largest = [&](std::vector<std::size_t> cuts) {
    std::int64_t most = 0;
    cuts.push_back(sizes.size());
    std::size_t from = 0;
    for (const std::size_t end : cuts) {
      std::int64_t sum = 0;
      for (; from < end; ++from) sum += sizes[from];
      most = std::max(most, sum);
    }
    return most;
  };
  const auto found = balanced_split(sizes, blocks);
  RC_ASSERT(found.size() + 1 == static_cast<std::size_t>(blocks));
  for (std::size_t i = 0; i < found.size(); ++i)
    RC_ASSERT(found[i] > (i == 0 ? 0 : found[i - 1]) && found[i] < sizes.size());
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (unsigned set = 0; set < 1U << (sizes.size() - 1); ++set) {
    std::vector<std::size_t> cuts;
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
      if ((set >> i & 1U) != 0) cuts.push_back(i + 1);
    if (cuts.size() + 1 == static_cast<std::size_t>(blocks)) best = std::min(best, largest(cuts));
  }
  RC_ASSERT(largest(found) == best);
}

// Tries every combination of depth, width, microbatches and recomputation.
RC_GTEST_PROP(SlowPlannersProperty, TwoBufferedPlannerFindsTheBestOfAllDepthsAndWidths, ()) {
  const profile::Profile profile = any_profile({});
  const cluster::Cluster cluster = any_cluster({});
  const Cuts cuts = Cuts::in_declared_order(profile);
  Setting setting = any_setting(cost::kTwoBuffered);
  setting.recompute = Recompute::kWhereNeeded;
  const Outcome outcome = best_of(plan_two_buffered(cuts, cluster, setting));
  double best = std::numeric_limits<double>::infinity();
  std::int64_t miss = std::numeric_limits<std::int64_t>::max();
  const int most = std::min(cluster.workers(), static_cast<int>(cuts.unit_count()));
  for (const Recompute recompute : {Recompute::kNever, Recompute::kAlways})
    for (int depth = 1; depth <= most; ++depth)
      for (int microbatches = depth; microbatches <= 8 * depth; microbatches *= 2) {
        if (microbatches > depth && microbatches / 2 >= kMicrobatchesPerStage * depth) break;
        setting.recompute = recompute;
        setting.microbatches = microbatches;
        const Predictor predictor(cuts, cluster, setting);
        const auto ends = balanced_ends(predictor, Balance::kTime, depth);
        for (int width = 1; width * depth <= cluster.workers(); ++width)
          for (const bool side_by_side : {true, false}) {
            const std::vector<int> counts(static_cast<std::size_t>(depth),
                                          side_by_side ? 1 : width);
            const Prediction p = predictor.predict(
                in_order(ends, counts, side_by_side ? width : 1, cluster.workers()));
            if (p.miss)
              miss = std::min(miss, p.miss->bytes.count);
            else
              best = std::min(best, p.per_minibatch.count());
          }
      }
  if (const auto* answer = std::get_if<Answer>(&outcome))
    RC_ASSERT(close(answer->objective.count(), best));
  else
    RC_ASSERT(std::get<Refusal>(outcome).nearest->bytes.count == miss &&
              best == std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace pipedream::plan
