// What a plan would do, simulated: speed, idle time by cause, memory, bytes.
#pragma once

#include <functional>

#include "simulate/simulate.h"
#include "systems/schedules.h"
#include "timeline/account.h"

namespace pipedream::systems {

struct Simulated {
  std::int64_t minibatches = 0;  // that were simulated
  timeline::Summary summary;
  std::vector<simulate::LinkTraffic> links;
  double minibatches_per_second = 0;         // of the profile's size
  std::optional<double> samples_per_second;  // where the profile says how many a minibatch has
  double samples_per_update = 0;             // minibatches, where it does not
  double bytes_per_minibatch = 0;
  std::vector<Bytes> memory;    // by worker of the plan, at its peak
  timeline::Timeline timeline;  // empty unless asked for
  std::int64_t ops = 0;
};

struct SimulationWishes {
  simulate::Conditions conditions;
  // Its `minibatches` 0: as many as show the steady state.
  ScheduleOptions schedule_options{.minibatches = 0};
  int optimiser_copies = 1;
  bool keep_timeline = false;
  // Instead of the plan's own schedule: one that validates against the plan, and outlives the call.
  const schedule::Schedule* schedule = nullptr;
  // Told now and then which part of the minibatches has begun; empty: nobody is.
  std::function<void(double)> progress;
};

// Throws what schedule_for throws.
[[nodiscard]] Simulated simulate_plan(const plan::Plan& plan, const profile::Profile& profile,
                                      const cluster::Cluster& cluster,
                                      const SimulationWishes& wishes);

// How many of the profile's minibatches one numbered minibatch of a schedule has. Where replicas
// share items it has one for each replica of the first stage, else one.
[[nodiscard]] int minibatches_in_one(const plan::Plan& plan, cost::Replicas kind);

// What one update of the first stage's weights averages over, where a minibatch on one input
// replica has `batch` samples.
[[nodiscard]] double samples_per_update(const plan::Plan& plan, const cost::Traits& traits,
                                        std::int64_t batch);

// How the events of such a run, simulated or real, are accounted for.
[[nodiscard]] timeline::AccountRule account_rule(const plan::Plan& plan, const cost::Traits& traits,
                                                 const ScheduleOptions& options);

// Enough for the pipeline to fill and run for a while; for systems that flush, four updates.
[[nodiscard]] std::int64_t enough_minibatches(const plan::Plan& plan);

}  // namespace pipedream::systems
