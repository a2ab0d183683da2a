// Compares PipeDream's planner with all plans of its form, valued one by one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/system_rules_testing.h"
#include "plan/hierarchical.h"
#include "plan/plan_testing.h"

namespace pipedream::plan {
namespace {

using test::any_of_range;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Returns the values of all plans, without tables and without minima of parts.
class AllPlans {
 public:
  AllPlans(const Predictor& predictor, const HierarchicalOptions& options)
      : predictor_(predictor), cuts_(predictor.cuts()), options_(options) {
    for (const cluster::Device& device : predictor.cluster().devices)
      slowest_ = std::min(slowest_, device.speed);
  }

  // Returns the values of all plans for the layers between cuts a and b on one component of `level`
  // (0: a worker). `downstream` workers per component are in later stages.
  std::vector<double> of(std::size_t level, std::size_t a, std::size_t b, int downstream,
                         bool replicated) {
    if (level == 0) return {one_worker(a, b, downstream, replicated)};
    const int all = predictor_.cluster().levels[level - 1].count;
    std::vector<double> values;
    for (int m = options_.fewer_workers ? 1 : all; m <= all; ++m)
      add(values, sequences(level, a, b, m, downstream, replicated, true));
    return values;
  }

 private:
  static void add(std::vector<double>& into, const std::vector<double>& more) {
    into.insert(into.end(), more.begin(), more.end());
  }

  // Returns the values of all sequences of groups of components, `m` components in all.
  std::vector<double> sequences(std::size_t level, std::size_t a, std::size_t b, int m,
                                int downstream, bool replicated, bool first) {
    std::vector<double> values = group(level, a, b, m, 0, downstream, replicated, first);
    for (std::size_t s = a + 1; s < b; ++s) {
      if (!cuts_.precedes(a, s) || !cuts_.precedes(s, b)) continue;
      for (int left = 1; left < m; ++left) {
        const int inside = predictor_.links().inside(level - 1);
        const auto ahead =
            group(level, a, s, left, (m - left) * inside, downstream, replicated, first);
        const auto rest = sequences(level, s, b, m - left, downstream, replicated, false);
        for (const double x : ahead)
          for (const double y : rest) values.push_back(std::max(x, y));
      }
    }
    return values;
  }

  std::vector<double> group(std::size_t level, std::size_t a, std::size_t b, int m, int behind,
                            int downstream, bool replicated, bool first) {
    if (options_.straight && m > 1) return {};
    const int below = level < 2 ? 1 : predictor_.cluster().levels[level - 2].count;
    const double bandwidth = predictor_.cluster().levels[level - 1].bandwidth.bytes_per_second;
    const cost::Recurrence rule{options_.cost_model, bandwidth, below};
    std::vector<double> values =
        of(level - 1, a, b, (behind + downstream + m - 1) / m, replicated || m > 1);
    for (double& value : values) {
      value = rule.stage(value, cuts_.weights(a, b), m, first);
      if (first) continue;
      value = std::max(value, rule.cut_before(cuts_.crossing(a), m));
      if (b != cuts_.last()) value = std::max(value, rule.cut_after(cuts_.crossing(b), m));
    }
    return values;
  }

  double one_worker(std::size_t a, std::size_t b, int downstream, bool replicated) const {
    const auto counts =
        cost::peak_counts(cost::kPipedream.traits, downstream + 1, replicated ? 2 : 1, 1);
    const Bytes used = cost::stage_memory(cuts_.size(a, b), counts,
                                          {predictor_.setting().optimiser_copies, 1, false})
                           .total();
    if (options_.limit_memory && used > predictor_.weakest_of_all().memory) return kNever;
    return cuts_.compute(a, b) / slowest_;
  }

  const Predictor& predictor_;
  const Cuts& cuts_;
  HierarchicalOptions options_;
  double slowest_ = std::numeric_limits<double>::max();
};

RC_GTEST_PROP(SlowPlannersProperty, HierarchicalPlannerFindsTheBestPlanOfItsForm, ()) {
  const Limits limits{any_of_range(0, 8) == 0 ? 7 : 5, 6};
  const profile::Profile profile = any_profile(limits);
  const cluster::Cluster cluster = any_cluster(limits);
  const Cuts cuts(profile);
  Setting setting{.rules = cost::kPipedream};
  setting.memory = any_memory();
  const Predictor predictor(cuts, cluster, setting);
  const HierarchicalOptions options{static_cast<cost::CostModel>(any_of_range(0, 3)),
                                    any_of_range(0, 4) == 0, any_of_range(0, 2) == 0,
                                    any_of_range(0, 4) != 0};
  double best = kNever;
  AllPlans all(predictor, options);
  for (const double value : all.of(cluster.levels.size(), 0, cuts.last(), 0, false))
    best = std::min(best, value);
  const Outcome outcome = plan_hierarchical(predictor, options);
  const auto* answer = std::get_if<Answer>(&outcome);
  RC_ASSERT((answer != nullptr) == (best < kNever));
  if (answer == nullptr) return;
  RC_ASSERT(close(answer->objective.count(), best));
  RC_ASSERT(!options.limit_memory || !answer->prediction.miss);
  // The layout is a valid plan of the network, and no worker is in two stages.
  const Plan plan = to_plan(cuts, answer->layout, answer->prediction, "pipedream");
  (void)stage_of_each_layer(plan, profile.graph);
  std::vector<int> used(static_cast<std::size_t>(cluster.workers()), 0);
  for (const Stage& stage : plan.stages)
    for (const WorkerId worker : stage.workers) RC_ASSERT(++used.at(worker.index()) == 1);
  if (!options.fewer_workers)
    RC_ASSERT(std::accumulate(used.begin(), used.end(), 0) == cluster.workers());
}

// With free links and without a memory limit, the default recurrence is a plain bottleneck problem.
RC_GTEST_PROP(SlowPlannersProperty, TheAnswersTimeIsThatOfItsSlowestStageWithoutLinks, ()) {
  const profile::Profile profile = any_profile({});
  cluster::Cluster cluster = any_cluster({});
  for (cluster::Level& level : cluster.levels) level.bandwidth = {1e18};
  for (cluster::Device& device : cluster.devices) device.speed = 1;
  const Cuts cuts(profile);
  const Predictor predictor(cuts, cluster, {.rules = cost::kPipedream});
  const Outcome outcome = plan_hierarchical(predictor, {.limit_memory = false});
  const auto& answer = std::get<Answer>(outcome);
  double slowest = 0;
  for (std::size_t s = 0; s < answer.layout.stages(); ++s)
    slowest = std::max(slowest, cuts.compute(answer.layout.ends[s], answer.layout.ends[s + 1]) /
                                    static_cast<double>(answer.layout.workers[s].size()));
  RC_ASSERT(close(slowest, answer.objective.count()));
}

}  // namespace
}  // namespace pipedream::plan
