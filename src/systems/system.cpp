#include "systems/system.h"

#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/error.h"
#include "core/nearest.h"
#include "plan/dealing.h"
#include "schedule/depths.h"

namespace pipedream::systems {

const System& find_system(std::string_view name) {
  if (name == "auto")
    throw BadUsage("'auto' chooses a system where a plan is made; here one must be named");
  std::vector<std::string> names{"auto"};
  for (const System& system : all_systems()) {
    if (system.name == name) return system;
    names.push_back(system.name);
  }
  throw BadUsage("there is no system '" + std::string(name) + "'" +
                 suggestion(std::string(name), names));
}

const System& data_parallel_system() {
  for (const System& system : all_systems())
    if (system.traits.one_stage && !system.traits.is_stale()) return system;
  panic("no data parallelism in the list", __FILE__, __LINE__);
}

bool knows(const System& system, Option option) {
  return std::find(system.options.begin(), system.options.end(), option) != system.options.end();
}

std::string who_knows(Option option) {
  return systems_with([&](const System& system) { return knows(system, option); });
}

plan::Setting setting_of(const System& system, const Wishes& wishes) {
  // Asynchronous workers have parameter servers and no other way to exchange gradients.
  const cost::Exchange exchange = system.traits.asynchronous
                                      ? cost::Exchange::kParameterServer
                                      : wishes.exchange.value_or(cost::Exchange::kRing);
  return {.rules = {system.traits, system.time},
          .memory = wishes.memory,
          .optimiser_copies = wishes.optimiser_copies,
          .exchange = exchange,
          .recompute = wishes.recompute ? system.recompute : plan::Recompute::kNever,
          .microbatches = wishes.microbatches,
          .depth = wishes.depth,
          .most_depth = wishes.most_depth};
}

namespace {

using Reason = std::optional<std::string>;

Reason unwanted_replicas(const cost::Traits& traits, const plan::Plan& plan) {
  if (traits.replicas != cost::Replicas::kNone || !plan::has_replicas(plan)) return std::nullopt;
  return "it knows no replicated stages";
}

Reason wrong_workers(const cost::Traits& traits, const plan::Plan& plan) {
  if (traits.one_stage && plan.stages.size() != 1) return "every worker must hold every layer";
  if (traits.several_stages_per_worker) {
    if (plan::dealt_out_to(plan)) return std::nullopt;
    return "its stages must be dealt out to the workers in turn, the same number to each";
  }
  std::set<WorkerId> seen;
  for (const plan::Stage& stage : plan.stages)
    for (const WorkerId worker : stage.workers)
      if (!seen.insert(worker).second)
        return "worker " + std::to_string(worker.value) +
               " has two stages, and this system gives a worker one";
  return std::nullopt;
}

Reason unwanted_parts(const cost::Traits& traits, const plan::Plan& plan) {
  if (!traits.cuts_minibatches && plan.microbatches > 1)
    return "it does not cut minibatches, found " + std::to_string(plan.microbatches) +
           " microbatches";
  const bool recomputes = std::any_of(plan.stages.begin(), plan.stages.end(),
                                      [](const plan::Stage& stage) { return stage.recompute; });
  if (recomputes && !traits.recomputes) return "it keeps what it needs, and recomputes nothing";
  return std::nullopt;
}

// Refuses depths with which a system of two weight versions would need a third one.
Reason too_deep(const cost::Traits& traits, const plan::Plan& plan) {
  if (traits.versions != cost::WeightVersions::kTwo) return std::nullopt;
  for (const int depth : schedule::runnable_depths(plan, traits.replicas))
    if (depth > cost::most_in_flight(traits, depth, {plan.microbatches, plan.accumulate}))
      return std::to_string(depth) + " microbatches in flight need at least " +
             std::to_string(depth - 1) +
             (plan.accumulate > 1 ? " in an update, found " : " in a minibatch, found ") +
             std::to_string(plan.microbatches * plan.accumulate);
  return std::nullopt;
}

Reason unwanted_accumulation(const cost::Traits& traits, const plan::Plan& plan) {
  if (!traits.asynchronous || plan.accumulate == 1) return std::nullopt;
  return "every minibatch is an update, so it cannot accumulate the gradients of " +
         std::to_string(plan.accumulate);
}

}  // namespace

std::optional<std::string> why_refused(const System& system, const plan::Plan& plan) {
  for (const auto check : {unwanted_replicas, wrong_workers, unwanted_parts, unwanted_accumulation})
    if (Reason reason = check(system.traits, plan)) return reason;
  if (system.accepts != nullptr)
    if (Reason reason = system.accepts(plan)) return reason;
  return too_deep(system.traits, plan);
}

}  // namespace pipedream::systems
