// Whether the plan that a system makes by itself is as fast in simulation as the plans that a user
// can ask the same system for.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "plan/interleaved.h"
#include "plan/plan_file.h"
#include "systems/planning.h"
#include "systems/simulation.h"

namespace pipedream::systems {

// By how much another plan of the same system may be faster in simulation.
inline constexpr double kMostFaster = 1.02;

// What a user can ask of a system about the form of its plan, all other wishes being those of
// `wishes`.
[[nodiscard]] inline std::vector<Wishes> asked_forms(const System& system, const Wishes& wishes,
                                                     int workers) {
  std::vector<Wishes> forms;
  for (const bool straight : {false, true})
    for (const bool hierarchical : {false, true})
      for (const cost::Depth depth : {cost::Depth::kBest, cost::Depth::kNoam}) {
        Wishes form = wishes;
        form.straight = straight;
        form.hierarchical = hierarchical;
        form.depth = depth;
        forms.push_back(form);
      }
  // One stage is no pipeline, and only the user asks gpipe and the like for it.
  for (int stages = 2; stages <= workers * plan::kMostChunks; ++stages) {
    Wishes form = wishes;
    form.stages = stages;
    forms.push_back(form);
  }
  std::erase_if(forms, [&](const Wishes& form) {
    const auto given = given_options(form);
    return given == given_options(wishes) ||
           std::any_of(given.begin(), given.end(),
                       [&](Option option) { return !knows(system, option); });
  });
  return forms;
}

[[nodiscard]] inline double simulated_speed(const Planned& planned, const Model& model,
                                            const cluster::Cluster& cluster) {
  SimulationWishes simulation;
  simulation.conditions.loading = false;  // planners leave it out
  return simulate_plan(planned.plan, model.profile, cluster, simulation).minibatches_per_second;
}

// Describes the fastest of the plans that a user can ask the system for, if it is faster than the
// system's own plan by more than kMostFaster in simulation; nullopt if none is, or if the system
// has no plan.
[[nodiscard]] inline std::optional<std::string> faster_form(const System& system,
                                                            const Model& model,
                                                            const cluster::Cluster& cluster,
                                                            const Wishes& wishes) {
  const Result own = plan_alone(system, model, cluster, wishes);
  const auto* chosen = std::get_if<Planned>(&own);
  if (chosen == nullptr) return std::nullopt;
  const double speed = simulated_speed(*chosen, model, cluster);
  double fastest = speed * kMostFaster;
  std::optional<std::string> found;
  for (const Wishes& form : asked_forms(system, wishes, cluster.workers())) {
    const Result result = plan_alone(system, model, cluster, form);
    const auto* planned = std::get_if<Planned>(&result);
    if (planned == nullptr) continue;
    const double other = simulated_speed(*planned, model, cluster);
    if (other <= fastest) continue;
    fastest = other;
    std::string given;
    for (const Option option : given_options(form)) given += " " + name_of(option);
    const auto text = [](const Planned& of, double rate) {
      return plan::config_text(of.plan) + " (" + std::to_string(of.plan.stages.front().depth) +
             " in flight, " + std::to_string(of.plan.microbatches) + " microbatches, predicted " +
             std::to_string(1 / of.times.predicted.count()) + ", simulated " +
             std::to_string(rate) + ")";
    };
    found = system.name + ": " + std::to_string(other / speed) + " times as fast is" + given + " " +
            text(*planned, other) + " than " + text(*chosen, speed);
  }
  return found;
}

}  // namespace pipedream::systems
