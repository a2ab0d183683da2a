#include "systems/planning.h"

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"
#include "plan/microbatches.h"
#include "profile/device_names.h"
#include "systems/ranking.h"

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

// Plans along `cuts`, which are for updates of `wishes.accumulate` minibatches. Does not set
// Planned::data_parallel.
Result plan_along_accumulating(const plan::Cuts& cuts, const System& system,
                               const cluster::Cluster& cluster, const Wishes& wishes) {
  const plan::Predictor predictor(cuts, cluster, setting_of(system, wishes));
  plan::Candidates candidates =
      plan::with_other_microbatches(predictor, system.plan(predictor, wishes));
  if (auto* refusal = std::get_if<plan::Refusal>(&candidates)) return std::move(*refusal);
  auto& answers = std::get<std::vector<plan::Answer>>(candidates);
  // The other cost models describe planners that did not simulate.
  const bool simulates = wishes.cost_model == cost::CostModel::kDefault;
  Ranked best = simulates ? fastest_simulated(system, predictor, std::move(answers))
                          : Ranked{std::move(answers.front()), {}};
  Planned planned;
  planned.system = system.name;
  planned.plan = plan::to_plan(cuts, best.answer.layout, best.answer.prediction, system.name);
  planned.times = {best.answer.objective, best.simulated};
  planned.answer = std::move(best.answer);
  planned.cost_model = wishes.cost_model;
  planned.every_cut = !system.looks_at_all_cuts || cuts.complete();
  return planned;
}

// Plans along `cuts`. Does not set Planned::data_parallel.
Result plan_along(const plan::Cuts& cuts, const System& system, const cluster::Cluster& cluster,
                  const Wishes& wishes) {
  if (wishes.accumulate == cuts.accumulate())
    return plan_along_accumulating(cuts, system, cluster, wishes);
  return plan_along_accumulating(cuts.accumulating(wishes.accumulate), system, cluster, wishes);
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
  if (wishes.accumulate < 1 || wishes.accumulate > plan::kMostAccumulate)
    throw BadUsage(quoted(Option::kAccumulate) + ": wanted 1 to " +
                   std::to_string(plan::kMostAccumulate) + " minibatches, found " +
                   std::to_string(wishes.accumulate));
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
  Result result = plan_along(cuts, system, cluster, wishes);
  const auto* refusal = std::get_if<plan::Refusal>(&result);
  if (refusal == nullptr || !refusal->nearest || !cuts.merged()) return result;
  // No plan fits. Tries again with every layer as a unit of its own: the activations that a free
  // layer keeps may fit in another stage.
  const plan::Cuts single = plan::Cuts::of_single_layers(model.profile);
  return plan_along(single, system, cluster, wishes);
}

std::optional<Times> data_parallel_times(const Model& model, const cluster::Cluster& cluster,
                                         const Wishes& wishes) {
  const System& system = data_parallel_system();
  const Result result = plan_along(model.in_order, system, cluster, only_known(system, wishes));
  const auto* planned = std::get_if<Planned>(&result);
  return planned == nullptr ? std::nullopt : std::optional(planned->times);
}

double speedup(const Times& times, const Times& over) {
  if (times.simulated && over.simulated) return *over.simulated / *times.simulated;
  return over.predicted / times.predicted;
}

Result plan_for(const System& system, const Model& model, const cluster::Cluster& cluster,
                const Wishes& wishes) {
  Result result = plan_alone(system, model, cluster, wishes);
  if (auto* planned = std::get_if<Planned>(&result))
    planned->data_parallel = data_parallel_times(model, cluster, wishes);
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
  predicted.seconds_per_minibatch = planned.times.predicted.count();
  if (profile.batch)
    predicted.samples_per_second =
        static_cast<double>(*profile.batch) / planned.times.predicted.count();
  if (planned.times.simulated)
    predicted.simulated_seconds_per_minibatch = planned.times.simulated->count();
  if (planned.data_parallel)
    predicted.speedup_over_dp = speedup(planned.times, *planned.data_parallel);
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
