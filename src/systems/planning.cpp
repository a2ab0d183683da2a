#include "systems/planning.h"

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"
#include "profile/device_names.h"

namespace pipedream::systems {

Decision plan_with(const std::string& system, const Model& model, const cluster::Cluster& cluster,
                   const Wishes& wishes) {
  if (system == kAutomatic) {
    Choice choice = plan_for_all(model, cluster, wishes);
    if (!choice.best) refuse_all(choice.candidates);
    Planned best = std::get<Planned>(choice.candidates[*choice.best].result);
    return {std::move(best), std::move(choice)};
  }
  const System& found = find_system(system);
  Result result = plan_for(found, model, cluster, wishes);
  if (auto* planned = std::get_if<Planned>(&result)) return {std::move(*planned), {}};
  throw CannotMeet("--system " + found.name + ": " + std::get<plan::Refusal>(result).why);
}

void throw_no_plan(const std::string& reasons) {
  throw CannotMeet("no system has a plan for this:" + reasons);
}

plan::PlanFile plan_file_of(const Planned& planned, const profile::Profile& profile, int workers,
                            Seconds took) {
  plan::PlanFile file{.model = profile.model,
                      .workers = workers,
                      .device = profile::kind_of_device(profile.device),
                      .precision = profile.precision,
                      .plan = planned.plan};
  plan::Predicted& predicted = file.predicted;
  const plan::Prediction& prediction = planned.answer.prediction;
  predicted.seconds_per_minibatch = planned.time().count();
  if (profile.batch)
    predicted.samples_per_second = static_cast<double>(*profile.batch) / planned.time().count();
  if (planned.data_parallel) predicted.speedup_over_dp = *planned.data_parallel / planned.time();
  predicted.bytes_per_minibatch = prediction.bytes_per_minibatch;
  predicted.gap = planned.answer.gap();
  predicted.planner_seconds = took.count();
  for (std::size_t s = 0; s < prediction.stages.size(); ++s) {
    const plan::StagePrediction& of = prediction.stages[s];
    const Bytes weights = total_weights(profile, planned.plan.stages[s].layers);
    predicted.stages.push_back({(of.forward + of.backward).count(), weights, of.memory.total()});
  }
  return file;
}

plan::PlanFile read_known_plan(const std::filesystem::path& path, const graph::Graph& graph) {
  plan::PlanFile file = plan::read_plan(path, graph);
  try {
    (void)find_system(file.plan.system);
  } catch (const BadUsage& unknown) {
    throw BadFile(path.string() + ": system: " + unknown.what());
  }
  return file;
}

const std::vector<std::string>& optimiser_names() {
  static const std::vector<std::string> names{"sgd", "momentum", "adam", "adamw"};
  return names;
}

std::size_t optimiser_place(std::string_view optimiser) {
  const auto& names = optimiser_names();
  const auto found = std::find(names.begin(), names.end(), optimiser);
  if (found == names.end())
    throw BadUsage("there is no optimiser '" + printable(optimiser) + "'" +
                   suggestion(optimiser, names));
  return static_cast<std::size_t>(found - names.begin());
}

int optimiser_copies(std::string_view optimiser) {
  return std::min(2, static_cast<int>(optimiser_place(optimiser)));  // adamw keeps what adam does
}

}  // namespace pipedream::systems
