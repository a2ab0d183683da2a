#include "tables/never_worse.h"

#include "systems/choice.h"
#include "systems/ranking.h"
#include "systems/survival_testing.h"
#include "tables/all_but_one.h"

namespace pipedream::bench {
namespace {

using namespace systems;

std::optional<TimedPlan> timed(const Result& result) {
  const auto* planned = std::get_if<Planned>(&result);
  if (planned == nullptr) return std::nullopt;
  return TimedPlan{plan::config_text(planned->plan), best_estimate(planned->times).count()};
}

// Returns the plan of all workers but one and one, as pipedream would run it.
std::optional<TimedPlan> timed_all_but_one(const Model& model, const cluster::Cluster& cluster) {
  const System& pipedream = find_system("pipedream");
  const plan::Predictor predictor(model.cuts, cluster, setting_of(pipedream, {}));
  plan::Outcome outcome = plan_all_but_one(predictor);
  auto* answer = std::get_if<plan::Answer>(&outcome);
  if (answer == nullptr) return std::nullopt;
  const Ranked ranked = fastest_simulated(pipedream, predictor, {std::move(*answer)});
  const plan::Plan plan =
      plan::to_plan(model.cuts, ranked.answer.layout, ranked.answer.prediction, pipedream.name);
  return TimedPlan{plan::config_text(plan), ranked.simulated.value().count()};
}

}  // namespace

Comparison compare_plans(const profile::Profile& profile, const cluster::Cluster& cluster) {
  const Model model(profile);
  Comparison comparison{.model = profile.model, .cluster = cluster.name};
  const Choice choice = plan_for_all(model, cluster, {});
  const auto of_system = [&](const std::string& name) -> std::optional<TimedPlan> {
    for (const Candidate& candidate : choice.candidates)
      if (candidate.system->name == name) return timed(candidate.result);
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
  const System& pipedream = find_system("pipedream");
  comparison.straight = timed(plan_alone(pipedream, model, cluster, {.straight = true}));
  comparison.hierarchical = timed(plan_alone(pipedream, model, cluster, {.hierarchical = true}));
  comparison.all_but_one = timed_all_but_one(model, cluster);
  return comparison;
}

std::vector<std::string> better_ones(const Comparison& comparison) {
  std::vector<std::string> found;
  const auto check = [&](const char* name, const std::optional<TimedPlan>& other,
                         const std::optional<TimedPlan>& than, double tolerance = kMostFaster) {
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
