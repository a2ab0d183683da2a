// Simulates a plan and sums up the run: speed, idle time by cause, memory, bytes.
#pragma once

#include <functional>

#include "simulate/simulate.h"
#include "systems/schedules.h"
#include "timeline/account.h"

namespace pipedream::systems {

struct Simulated {
  std::int64_t minibatches = 0;  // minibatches simulated, as the schedule numbers them
  timeline::Summary summary;
  std::vector<simulate::LinkTraffic> links;
  double minibatches_per_second = 0;         // counted in minibatches of the profile
  std::optional<double> samples_per_second;  // nullopt if the profile does not say its batch size
  double samples_per_update = 0;             // minibatches per update if the batch is not known
  double bytes_per_minibatch = 0;            // sent by all workers per minibatch of the profile
  std::optional<Seconds> drain;              // timeline::Summary::drain
  // Minibatches of the profile between two checkpoints, on average. Each one comes at the next
  // whole update, so this is SimulationWishes::checkpoint_every unless updates are longer.
  std::optional<std::int64_t> checkpoint_every;
  std::vector<Bytes> memory;    // by worker: peak memory
  timeline::Timeline timeline;  // empty unless SimulationWishes::keep_timeline
  std::int64_t ops = 0;         // simulate::Result::ops
};

struct SimulationWishes {
  simulate::Conditions conditions;
  // If `minibatches` is 0, enough_minibatches() are simulated.
  ScheduleOptions schedule_options{.minibatches = 0};
  int optimiser_copies = 1;  // optimiser state per weight: 0 plain SGD, 1 momentum, 2 Adam
  // Minibatches of the profile between two checkpoints, for which the pipeline drains. It does not
  // change the simulated run: drain_share() says what checkpoints cost.
  std::optional<std::int64_t> checkpoint_every;
  bool keep_timeline = false;
  // Replaces the plan's own schedule, if it is not nullptr. Must be valid for the plan and outlive
  // the call.
  const schedule::Schedule* schedule = nullptr;
  // Called now and then with the part of the minibatches that the first stage has begun, from 0 to
  // 1. May be empty.
  std::function<void(double)> progress;
};

// Simulates the plan. Throws what schedule_for() and simulate::simulate() throw.
[[nodiscard]] Simulated simulate_plan(const plan::Plan& plan, const profile::Profile& profile,
                                      const cluster::Cluster& cluster,
                                      const SimulationWishes& wishes);

// Returns the part of a training's time that checkpoints cost because the pipeline drains for them.
// `drain` is the cost of one, and `between` is the time that training itself takes between two.
[[nodiscard]] constexpr double drain_share(Seconds drain, Seconds between) {
  return drain / (drain + between);
}

// Returns how many minibatches of the profile one minibatch of a schedule has. If replicas share
// items, it has one for each replica of the first stage, otherwise one.
[[nodiscard]] int minibatches_in_one(const plan::Plan& plan, cost::Replicas kind);

// Returns how many minibatches of a schedule lie between two moments at which all stages have made
// whole updates. If replicas take turns, a stage of r replicas is updated after every K·r
// minibatches, otherwise after every K (plan::Plan::accumulate).
[[nodiscard]] std::int64_t minibatches_of_round(const plan::Plan& plan, cost::Replicas kind);

// Returns the number of samples in one update of the first stage's weights, if a minibatch of the
// profile has `batch` samples: `batch` for each replica of the first stage and each of the
// minibatches that accumulate.
[[nodiscard]] double samples_per_update(const plan::Plan& plan, const cost::Traits& traits,
                                        std::int64_t batch);

// Returns `minibatches` of a schedule, rounded up to whole updates of the first stage.
[[nodiscard]] std::int64_t whole_updates_of_first(const plan::Plan& plan, std::int64_t minibatches);

// Returns the rule by which timeline::Account counts the events of a run, simulated or real.
[[nodiscard]] timeline::AccountRule account_rule(const plan::Plan& plan, const cost::Traits& traits,
                                                 const ScheduleOptions& options);

// Returns how many minibatches are simulated if nobody says how many. For a system without stale
// weights, these are four updates. For others, they are enough to fill the pipeline and to show its
// steady state.
[[nodiscard]] std::int64_t enough_minibatches(const plan::Plan& plan);

}  // namespace pipedream::systems
