#include "tables/never_worse.h"

#include "plan/dapple.h"
#include "plan/general.h"
#include "plan/hierarchical.h"
#include "systems/choice.h"
#include "tables/all_but_one.h"

namespace pipedream::bench {
namespace {

using namespace systems;
using plan::Predictor;

// The time of `layout` by the default cost model. Nothing if it does not fit the memory.
std::optional<TimedPlan> measured(const Predictor& predictor, const plan::Layout& layout,
                                  const plan::Prediction& prediction) {
  if (prediction.miss) return std::nullopt;
  return TimedPlan{
      plan::config_text(plan::to_plan(predictor.cuts(), layout, prediction, "pipedream")),
      prediction.per_minibatch.count()};
}

// The time of a planner's answer by the default cost model, whatever the planner itself minimised.
std::optional<TimedPlan> measured(const Predictor& predictor, const plan::Outcome& outcome) {
  const auto* answer = std::get_if<plan::Answer>(&outcome);
  if (answer == nullptr) return std::nullopt;
  return measured(predictor, answer->layout, answer->prediction);
}

constexpr double kRounding = 1 + 1e-9;

}  // namespace

Comparison compare_plans(const profile::Profile& profile, const cluster::Cluster& cluster) {
  const Model model(profile);
  Comparison comparison{.model = profile.model, .cluster = cluster.name};
  const Choice choice = plan_for_all(model, cluster, {});
  const auto of_system = [&](const std::string& name) -> std::optional<TimedPlan> {
    for (const Candidate& candidate : choice.candidates) {
      const auto* planned = std::get_if<Planned>(&candidate.result);
      if (planned != nullptr && planned->system == name)
        return TimedPlan{plan::config_text(planned->plan), planned->time().count()};
    }
    return std::nullopt;
  };
  if (choice.best) {
    comparison.chosen = choice.candidates[*choice.best].system->name;
    comparison.best = of_system(*comparison.chosen);
  }
  if (const auto speedy = chosen(choice.candidates, Prefer::kSpeed)) {
    comparison.fastest = choice.candidates[*speedy].system->name;
    comparison.speedy = of_system(*comparison.fastest);
  }
  comparison.ours = of_system("pipedream");
  comparison.data_parallel = of_system("dp-bsp");
  comparison.dapple = of_system("dapple");
  const Predictor predictor(model.cuts, cluster, setting_of(find_system("pipedream"), {}));
  comparison.straight = measured(predictor, plan::plan_general(predictor, {.straight = true}));
  comparison.hierarchical = measured(predictor, plan::plan_hierarchical(predictor, {}));
  comparison.all_but_one = measured(predictor, plan_all_but_one(predictor));
  return comparison;
}

std::vector<std::string> better_ones(const Comparison& comparison) {
  std::vector<std::string> found;
  const auto check = [&](const char* name, const std::optional<TimedPlan>& other,
                         const std::optional<TimedPlan>& than, double tolerance = kRounding) {
    if (other && (!than || than->seconds > other->seconds * tolerance)) found.emplace_back(name);
  };
  check("data parallelism", comparison.data_parallel, comparison.speedy, kAsFast);
  check("DAPPLE", comparison.dapple, comparison.speedy, kAsFast);
  check("pipedream", comparison.ours, comparison.speedy, kAsFast);
  check("data parallelism, exact", comparison.data_parallel, comparison.best, kAsFast);
  check("DAPPLE, exact", comparison.dapple, comparison.best, kAsFast);
  check("pipedream by a quarter", comparison.ours, comparison.best, kAsFast * kWorthStaleness);
  check("the straight pipeline", comparison.straight, comparison.ours);
  check("the hierarchical planner", comparison.hierarchical, comparison.ours);
  check("all but one", comparison.all_but_one, comparison.ours);
  return found;
}

}  // namespace pipedream::bench
