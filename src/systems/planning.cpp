#include "systems/planning.h"

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"
#include "profile/device_names.h"

namespace pipedream::systems {
namespace {

void refuse_meaningless(const System& system, const Wishes& wishes) {
  if (!wishes.split.empty() && wishes.stages)
    throw BadUsage("`split` says how many stages there are: leave out `stages`");
  for (const Option option : given_options(wishes)) {
    // A cost model that does not describe a system is a request that cannot be met (plan_alone).
    if (knows(system, option) || option == Option::kCostModel) continue;
    throw BadUsage(quoted(option) + " means nothing to " + system.name + "; it is for " +
                   who_knows(option));
  }
}

plan::Outcome outcome_of(const System& system, const plan::Cuts& cuts,
                         const cluster::Cluster& cluster, const Wishes& wishes) {
  return system.plan(plan::Predictor(cuts, cluster, setting_of(system, wishes)), wishes);
}

Result as_result(const System& system, const Model& model, const plan::Cuts& cuts,
                 const Wishes& wishes, plan::Outcome outcome) {
  if (auto* refusal = std::get_if<plan::Refusal>(&outcome)) return std::move(*refusal);
  auto& answer = std::get<plan::Answer>(outcome);
  plan::Plan plan = plan::to_plan(cuts, answer.layout, answer.prediction, system.name);
  const bool every_cut = &cuts == &model.in_order || cuts.complete();
  return Planned{system.name, std::move(plan), std::move(answer), wishes.cost_model, every_cut, {}};
}

}  // namespace

Wishes only_known(const System& system, Wishes wishes) {
  for (const Option option : given_options(wishes))
    if (!knows(system, option) && option != Option::kCostModel) take_back(option, wishes);
  return wishes;
}

Result plan_alone(const System& system, const Model& model, const cluster::Cluster& cluster,
                  const Wishes& wishes) {
  refuse_meaningless(system, wishes);
  if (model.cuts.compute(0, model.cuts.last()) <= 0)
    return plan::Refusal{"no layer of the profile takes any time: there is nothing to plan", {}};
  if (wishes.microbatches && *wishes.microbatches > model.profile.batch.value_or(INT32_MAX))
    return plan::Refusal{quoted(Option::kMicrobatches) + " " +
                             std::to_string(*wishes.microbatches) + ": a minibatch has only " +
                             std::to_string(*model.profile.batch) + " samples",
                         {}};
  if (wishes.cost_model != cost::CostModel::kDefault && !knows(system, Option::kCostModel))
    return plan::Refusal{
        "the cost models 'paper' and 'published' describe PipeDream's planner and data "
        "parallelism only",
        {}};
  const plan::Cuts& cuts = system.looks_at_all_cuts ? model.cuts : model.in_order;
  plan::Outcome outcome = outcome_of(system, cuts, cluster, wishes);
  const auto* refusal = std::get_if<plan::Refusal>(&outcome);
  if (refusal == nullptr || !refusal->nearest || !cuts.merged())
    return as_result(system, model, cuts, wishes, std::move(outcome));
  // No plan fits. Tries again with every layer as a unit of its own: the activations that a free
  // layer keeps may fit in another stage.
  const plan::Cuts single = plan::Cuts::of_single_layers(model.profile);
  outcome = outcome_of(system, single, cluster, wishes);
  return as_result(system, model, single, wishes, std::move(outcome));
}

std::optional<Seconds> data_parallel_time(const Model& model, const cluster::Cluster& cluster,
                                          const Wishes& wishes) {
  const System& system = data_parallel_system();
  const plan::Outcome outcome =
      outcome_of(system, model.in_order, cluster, only_known(system, wishes));
  const auto* answer = std::get_if<plan::Answer>(&outcome);
  return answer == nullptr ? std::nullopt : std::optional(answer->objective);
}

Result plan_for(const System& system, const Model& model, const cluster::Cluster& cluster,
                const Wishes& wishes) {
  Result result = plan_alone(system, model, cluster, wishes);
  if (auto* planned = std::get_if<Planned>(&result))
    planned->data_parallel = data_parallel_time(model, cluster, wishes);
  return result;
}

plan::PlanFile plan_file_of(const Planned& planned, const profile::Profile& profile, int workers,
                            Seconds took) {
  plan::PlanFile file{.model = profile.model,
                      .workers = workers,
                      .device = profile::kind_of_device(profile.device),
                      .precision = profile.precision,
                      .batch = profile.batch,
                      .plan = planned.plan};
  plan::Predicted& predicted = file.predicted;
  const plan::Prediction& prediction = planned.answer.prediction;
  predicted.seconds_per_minibatch = planned.time().count();
  if (profile.batch)
    predicted.samples_per_second = static_cast<double>(*profile.batch) / planned.time().count();
  if (planned.data_parallel) predicted.speedup_over_dp = *planned.data_parallel / planned.time();
  predicted.bytes_per_minibatch = prediction.bytes_per_minibatch;
  predicted.drain_seconds = prediction.drain.count();
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

plan::PlanFile read_plan_for(const std::filesystem::path& path, const graph::Graph& graph,
                             int workers, const std::string& found) {
  plan::PlanFile plan = read_known_plan(path, graph);
  const int needed = plan::worker_count(plan.plan);
  if (needed > workers)
    throw CannotMeet("the plan " + path.string() + " needs " + std::to_string(needed) +
                     " workers, " + found);
  return plan;
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
  return std::min(2, static_cast<int>(optimiser_place(optimiser)));  // adamw has adam's state
}

}  // namespace pipedream::systems
