#include "systems/simulation.h"

#include <algorithm>
#include <numeric>

#include "cost/compute.h"
#include "plan/stage_size.h"

namespace pipedream::systems {
namespace {

// The most that enough_minibatches() returns, unless kFewestUpdates updates of several rounds take
// more.
constexpr std::int64_t kMostByItself = 20'000;
constexpr std::int64_t kFewestUpdates = 4;
// How often enough_minibatches() fill the pipeline.
constexpr std::int64_t kFills = 24;
// How often the warm-up fills it, in runs that are long enough. Averaging that is slower than
// compute holds compute back only when it is a whole round late, which may take many rounds.
constexpr std::int64_t kFillsOfWarmUp = 12;

// Returns how many minibatches all replicas of the first stage together have in flight, with each
// replica's number rounded up.
std::int64_t in_flight_at_first(const plan::Plan& plan) {
  const plan::Stage& first = plan.stages.front();
  const std::int64_t minibatches =
      (std::max(1, first.depth) + plan.microbatches - 1) / plan.microbatches;
  return minibatches * static_cast<std::int64_t>(first.workers.size());
}

// Computes the peak memory of a worker from its simulated counts. Keeps references to `plan` and
// `rules`.
class WorkerMemory {
 public:
  WorkerMemory(const plan::Plan& plan, const profile::Profile& profile,
               const schedule::Rules& rules, int optimiser_copies)
      : plan_(plan), rules_(rules), copies_(optimiser_copies), batch_(profile.batch) {
    for (const plan::Stage& stage : plan.stages)
      sizes_.push_back(plan::stage_size(profile, stage.layers));
  }

  [[nodiscard]] Bytes peak(const simulate::WorkerPeaks& peaks) const {
    if (peaks.stages.size() == 1) {
      const auto& [stage, counts] = peaks.stages.front();
      return running(stage, counts,
                     cost::accumulating(counts.in_flight, {plan_.microbatches, plan_.accumulate},
                                        rules_.traits.flushes));
    }
    Bytes most;
    for (const simulate::Moment& moment : peaks.moments) most = std::max(most, at(moment, peaks));
    return most;
  }

 private:
  // Returns the memory of all stages of the worker at one moment.
  [[nodiscard]] Bytes at(const simulate::Moment& moment, const simulate::WorkerPeaks& peaks) const {
    Bytes all;
    for (std::size_t i = 0; i < moment.stages.size(); ++i) {
      const auto& [stage, peak] = peaks.stages[i];
      const bool has_buckets = plan_.stage(stage).workers.size() > 1;
      schedule::Counts counts = moment.stages[i];
      if (has_buckets) counts.gradients = peak.gradients;  // buckets stay allocated
      if (i != moment.running_stage) {
        all += cost::resting_memory(sizes_[stage.index()], kept(stage, counts, 0), rule_of(stage))
                   .total();
        continue;
      }
      // The backward that begins here fills one more buffer.
      if (!moment.accumulates && !has_buckets) ++counts.gradients;
      all += running(stage, counts, moment.accumulates ? counts.in_flight : 0);
    }
    return all;
  }
  [[nodiscard]] Bytes running(StageId stage, const schedule::Counts& counts,
                              int accumulating) const {
    return cost::stage_memory(sizes_[stage.index()], kept(stage, counts, accumulating),
                              rule_of(stage))
        .total();
  }
  [[nodiscard]] cost::PeakCounts kept(StageId stage, const schedule::Counts& counts,
                                      int accumulating) const {
    return cost::with_replicas({.versions = counts.versions,
                                .gradients = counts.gradients,
                                .in_flight = counts.in_flight,
                                .accumulating = accumulating},
                               static_cast<int>(plan_.stage(stage).workers.size()),
                               rules_.traits.asynchronous);
  }
  [[nodiscard]] cost::MemoryRule rule_of(StageId id) const {
    const plan::Stage& stage = plan_.stage(id);
    const cost::ItemShare item = cost::item_share(
        rules_.traits.shares_items(), static_cast<int>(plan_.stages.front().workers.size()),
        static_cast<int>(stage.workers.size()), plan_.microbatches, batch_);
    return {copies_, item.on_replica(0), stage.recompute};
  }

  const plan::Plan& plan_;
  const schedule::Rules& rules_;
  int copies_;
  std::optional<std::int64_t> batch_;
  std::vector<cost::StageSize> sizes_;
};

std::vector<Bytes> memory_of(const plan::Plan& plan, const profile::Profile& profile,
                             const schedule::Rules& rules,
                             const std::vector<simulate::WorkerPeaks>& peaks, int copies) {
  std::vector<Bytes> memory(static_cast<std::size_t>(plan::worker_count(plan)));
  const WorkerMemory of(plan, profile, rules, copies);
  for (const simulate::WorkerPeaks& worker : peaks) memory[worker.worker.index()] = of.peak(worker);
  return memory;
}

// Returns a function that calls `wishes.progress` at every kEvery-th forward of the first stage;
// empty if `wishes.progress` is.
std::function<void(const timeline::Event&)> progress_of(const SimulationWishes& wishes,
                                                        std::int64_t minibatches) {
  constexpr std::int64_t kEvery = 256;
  if (!wishes.progress) return {};
  return [&wishes, minibatches, seen = std::int64_t{0}](const timeline::Event& event) mutable {
    const auto* forward = std::get_if<schedule::Forward>(&event.op);
    if (forward == nullptr || forward->stage != StageId{0} || ++seen % kEvery != 0) return;
    wishes.progress(static_cast<double>(forward->item.minibatch) /
                    static_cast<double>(minibatches));
  };
}

}  // namespace

int minibatches_in_one(const plan::Plan& plan, cost::Replicas kind) {
  const bool shared = kind == cost::Replicas::kShareItems;
  return shared ? static_cast<int>(plan.stages.front().workers.size()) : 1;
}

std::int64_t minibatches_of_round(const plan::Plan& plan, cost::Replicas kind) {
  std::int64_t round = 1;
  if (kind != cost::Replicas::kShareItems)
    for (const plan::Stage& stage : plan.stages)
      round = std::lcm(round, static_cast<std::int64_t>(stage.workers.size()));
  return plan.accumulate * round;
}

std::int64_t whole_updates_of_first(const plan::Plan& plan, std::int64_t minibatches) {
  const bool shares = find_system(plan.system).traits.shares_items();
  const auto replicas = static_cast<std::int64_t>(plan.stages.front().workers.size());
  const std::int64_t update = plan.accumulate * (shares ? 1 : replicas);
  return (minibatches + update - 1) / update * update;
}

double samples_per_update(const plan::Plan& plan, const cost::Traits& traits, std::int64_t batch) {
  const auto replicas = static_cast<double>(plan.stages.front().workers.size());
  return (traits.asynchronous ? 1 : replicas * plan.accumulate) * static_cast<double>(batch);
}

timeline::AccountRule account_rule(const plan::Plan& plan, const cost::Traits& traits,
                                   const ScheduleOptions& options) {
  timeline::AccountRule rule{.flushes = traits.flushes};
  rule.stages.clear();
  for (const plan::Stage& stage : plan.stages) {
    const auto replicas = static_cast<int>(stage.workers.size());
    const std::int64_t turn = traits.shares_items() ? 1 : replicas;
    // Rates are measured between whole updates. A short run may be a part of one.
    const std::int64_t update =
        std::clamp<std::int64_t>(options.minibatches / turn, 1, plan.accumulate) * turn;
    rule.stages.push_back({.round = update, .parts = traits.shares_items() ? replicas : 1});
  }
  rule.extent = extent_of(plan, options);
  rule.one_by_one = traits.asynchronous;
  const std::int64_t round = rule.stages.front().round;
  const std::int64_t wanted = traits.flushes ? 1 : kFillsOfWarmUp * in_flight_at_first(plan);
  const std::int64_t rounds = options.minibatches / round;
  rule.warm_up = std::min((wanted + round - 1) / round, (rounds + 1) / 2) * round;
  if (rounds < 2) rule.warm_up = 0;  // too short to leave anything out
  return rule;
}

std::int64_t enough_minibatches(const plan::Plan& plan) {
  const cost::Traits& traits = find_system(plan.system).traits;
  const std::int64_t update = whole_updates_of_first(plan, 1);
  if (!traits.is_stale()) return kFewestUpdates * update;
  std::int64_t wanted =
      std::clamp<std::int64_t>(kFills * in_flight_at_first(plan), 96, kMostByItself);
  // Updates of several rounds may be longer than what fills the pipeline.
  if (plan.accumulate > 1) wanted = std::max(wanted, kFewestUpdates * update);
  return whole_updates_of_first(plan, wanted);
}

Simulated simulate_plan(const plan::Plan& plan, const profile::Profile& profile,
                        const cluster::Cluster& cluster, const SimulationWishes& wishes) {
  ScheduleOptions options = wishes.schedule_options;
  if (options.minibatches == 0) options.minibatches = enough_minibatches(plan);
  schedule::Schedule own;
  if (wishes.schedule == nullptr) own = schedule_for(plan, options);
  const schedule::Schedule& schedule = wishes.schedule != nullptr ? *wishes.schedule : own;
  timeline::Account account(account_rule(plan, schedule.rules.traits, options));
  Simulated simulated;
  const auto keep = [&](const timeline::Event& event) {
    simulated.timeline.events.push_back(event);
  };
  const auto tell = progress_of(wishes, options.minibatches);
  simulate::Sink sink{[&](const timeline::Event& event) {
                        account.add(event);
                        if (wishes.keep_timeline) keep(event);
                        if (tell) tell(event);
                      },
                      {}};
  if (wishes.keep_timeline) sink.other = keep;
  const simulate::Result result =
      simulate::simulate(schedule, plan, profile, cluster, wishes.conditions, sink);
  simulated.minibatches = options.minibatches;
  simulated.summary = account.finish();
  simulated.drain = simulated.summary.drain(options.minibatches);
  simulated.links = result.links;
  simulated.ops = result.ops;
  const cost::Replicas replicas = schedule.rules.traits.replicas;
  const double in_one = minibatches_in_one(plan, replicas);
  if (wishes.checkpoint_every)
    simulated.checkpoint_every =
        std::max(*wishes.checkpoint_every,
                 minibatches_of_round(plan, replicas) * minibatches_in_one(plan, replicas));
  simulated.minibatches_per_second = simulated.summary.minibatches_per_second() * in_one;
  simulated.samples_per_update =
      samples_per_update(plan, schedule.rules.traits, profile.batch.value_or(1));
  if (profile.batch)
    simulated.samples_per_second =
        simulated.minibatches_per_second * static_cast<double>(*profile.batch);
  simulated.bytes_per_minibatch =
      result.bytes / (static_cast<double>(options.minibatches) * in_one);
  simulated.memory =
      memory_of(plan, profile, schedule.rules, result.peaks, wishes.optimiser_copies);
  return simulated;
}

}  // namespace pipedream::systems
