// Trainings on threads of this process, as benchmarks time them.
#pragma once

#include "cluster/local.h"
#include "systems/choice.h"
#include "train/optimiser_options.h"
#include "train/trainer.h"

namespace pipedream::bench {

// Returns the plan of a straight pipeline with `pipedream` on threads of this machine.
inline systems::Planned straight_plan(const profile::Profile& profile, int workers) {
  const systems::Model model(profile);
  systems::Wishes wishes;
  wishes.straight = true;
  const auto result = systems::plan_for(systems::find_system("pipedream"), model,
                                        cluster::this_machine(workers, std::nullopt), wishes);
  return std::get<systems::Planned>(result);
}

struct RunOptions {
  std::int64_t minibatches = 1;
  double rate = 0.001;  // learning rate
  std::uint64_t seed = 1;
  bool no_stash = false;
  bool keep_timeline = false;
  std::optional<train::Saving> saving{};  // if set, a checkpoint is written after every `every`
  std::int64_t every = 0;                 // minibatches
};

// Trains a plan, without evaluations.
inline train::TrainingOutcome trained(const model::Network& network, const plan::Plan& plan,
                                      const data::Data& data, const RunOptions& options) {
  runtime::Job job{.network = network, .plan = plan, .seed = options.seed};
  job.keep_timeline = options.keep_timeline;
  job.make_optimiser = [&] { return train::make_optimiser({.learning_rate = options.rate}); };
  train::Recipe recipe{
      .batch = network.batch, .minibatches = options.minibatches, .evaluate = false};
  recipe.schedule_options.no_stash = options.no_stash;
  recipe.saving = options.saving;
  if (options.saving) recipe.checkpoints.every = options.every;
  job.replicas = train::check_recipe(recipe, job);
  return train::train_on_threads(recipe, job, data, {}, std::nullopt);
}

// Trains a plan, and returns the seconds per minibatch in the steady state.
inline double seconds_per_minibatch(const model::Network& network, const plan::Plan& plan,
                                    const data::Data& data, const RunOptions& options) {
  return static_cast<double>(network.batch) /
         trained(network, plan, data, options).measured.samples_per_second;
}

}  // namespace pipedream::bench
