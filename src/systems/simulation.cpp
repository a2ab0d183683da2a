#include "systems/simulation.h"

#include <algorithm>

#include "cost/compute.h"
#include "plan/stage_size.h"

namespace pipedream::systems {
namespace {

using cost::Rule;

constexpr std::int64_t kMostByItself = 20'000;  // minibatches that are simulated unasked

// Minibatches that the first stage has in flight when all its replicas are full, in whole rounds.
std::int64_t in_flight_at_first(const plan::Plan& plan) {
  const plan::Stage& first = plan.stages.front();
  const std::int64_t minibatches =
      (std::max(1, first.depth) + plan.microbatches - 1) / plan.microbatches;
  return minibatches * static_cast<std::int64_t>(first.workers.size());
}

// What the simulated counts of a worker mean in bytes.
class WorkerMemory {
 public:
  WorkerMemory(const plan::Plan& plan, const profile::Profile& profile,
               const schedule::Rules& rules, int optimiser_copies)
      : plan_(plan), rules_(rules), copies_(optimiser_copies) {
    for (const plan::Stage& stage : plan.stages)
      sizes_.push_back(plan::stage_size(profile, stage.layers));
  }

  [[nodiscard]] Bytes peak(const simulate::WorkerPeaks& peaks) const {
    if (peaks.stages.size() == 1) {
      const auto& [stage, counts] = peaks.stages.front();
      return running(stage, counts,
                     cost::accumulating(counts.in_flight, plan_.microbatches, rules_.flushes));
    }
    Bytes most;
    for (const simulate::Moment& moment : peaks.moments) most = std::max(most, at(moment, peaks));
    return most;
  }

 private:
  [[nodiscard]] Bytes at(const simulate::Moment& moment, const simulate::WorkerPeaks& peaks) const {
    Bytes all;
    for (std::size_t i = 0; i < moment.stages.size(); ++i) {
      const auto& [stage, peak] = peaks.stages[i];
      const bool has_buckets = plan_.stage(stage).workers.size() > 1;
      schedule::Counts counts = moment.stages[i];
      if (has_buckets) counts.gradients = peak.gradients;  // they stay
      if (i != moment.runs) {
        all += cost::resting_memory(sizes_[stage.index()], kept(stage, counts, 0), rule_of(stage))
                   .total();
        continue;
      }
      if (!moment.accumulates && !has_buckets) ++counts.gradients;  // by the end of the backward
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
  [[nodiscard]] cost::Counts kept(StageId stage, const schedule::Counts& counts,
                                  int accumulating) const {
    return cost::with_replicas({.versions = counts.versions,
                                .gradients = counts.gradients,
                                .in_flight = counts.in_flight,
                                .accumulating = accumulating},
                               static_cast<int>(plan_.stage(stage).workers.size()),
                               rules_.asynchronous);
  }
  [[nodiscard]] cost::MemoryRule rule_of(StageId id) const {
    const plan::Stage& stage = plan_.stage(id);
    const bool together = rules_.sharing == schedule::Sharing::kTogether;
    const double replicas = together ? static_cast<double>(stage.workers.size()) : 1;
    const double share = static_cast<double>(minibatches_in_one(plan_, rules_.sharing)) /
                         plan_.microbatches / replicas;
    return {copies_, share, stage.recompute};
  }

  const plan::Plan& plan_;
  const schedule::Rules& rules_;
  int copies_;
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

// Looks at what the first stage begins, one item in so many.
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

int minibatches_in_one(const plan::Plan& plan, schedule::Sharing sharing) {
  return sharing == schedule::Sharing::kTogether
             ? static_cast<int>(plan.stages.front().workers.size())
             : 1;
}

double samples_per_update(const plan::Plan& plan, const schedule::Rules& rules,
                          std::int64_t batch) {
  const auto replicas = static_cast<double>(plan.stages.front().workers.size());
  return (rules.asynchronous ? 1 : replicas) * static_cast<double>(batch);
}

timeline::AccountRule account_rule(const plan::Plan& plan, const schedule::Rules& rules,
                                   const Training& training) {
  timeline::AccountRule rule{.flushes = rules.flushes};
  const auto replicas = static_cast<std::int64_t>(plan.stages.front().workers.size());
  const bool together = rules.sharing == schedule::Sharing::kTogether;
  rule.round = together ? 1 : replicas;
  rule.parts = together ? static_cast<int>(replicas) : 1;
  rule.extent = schedule::whole_minibatches(plan, training.minibatches);
  if (training.last_microbatches) rule.extent.last = *training.last_microbatches;
  rule.one_by_one = rules.asynchronous;
  const std::int64_t wanted = rules.flushes ? rule.round : 4 * in_flight_at_first(plan);
  const std::int64_t rounds = training.minibatches / rule.round;
  rule.warm_up = std::min(wanted, (rounds + 2) / 3 * rule.round);
  if (rounds < 2) rule.warm_up = 0;  // better the whole run than nothing
  return rule;
}

std::int64_t enough_minibatches(const plan::Plan& plan) {
  const auto replicas = static_cast<std::int64_t>(plan.stages.front().workers.size());
  const Rule rule = find_system(plan.system).rule;
  if (cost::replicas_split_items(rule)) return 4;
  if (!cost::never_flushes(rule) && rule != Rule::kAsynchronous) return 4 * replicas;
  const std::int64_t wanted =
      std::clamp<std::int64_t>(24 * in_flight_at_first(plan), 96, kMostByItself);
  return (wanted + replicas - 1) / replicas * replicas;
}

Simulated simulate_plan(const plan::Plan& plan, const profile::Profile& profile,
                        const cluster::Cluster& cluster, const SimulationWishes& wishes) {
  Training training = wishes.training;
  if (training.minibatches == 0) training.minibatches = enough_minibatches(plan);
  schedule::Schedule own;
  if (wishes.schedule == nullptr) own = schedule_for(plan, training);
  const schedule::Schedule& schedule = wishes.schedule != nullptr ? *wishes.schedule : own;
  timeline::Account account(account_rule(plan, schedule.rules, training));
  Simulated simulated;
  const auto keep = [&](const timeline::Event& event) {
    simulated.timeline.events.push_back(event);
  };
  const auto tell = progress_of(wishes, training.minibatches);
  simulate::Sink sink{[&](const timeline::Event& event) {
                        account.add(event);
                        if (wishes.keep_timeline) keep(event);
                        if (tell) tell(event);
                      },
                      {}};
  if (wishes.keep_timeline) sink.other = keep;
  const simulate::Result result =
      simulate::simulate(schedule, plan, profile, cluster, wishes.conditions, sink);
  simulated.minibatches = training.minibatches;
  simulated.summary = account.finish();
  simulated.links = result.links;
  simulated.ops = result.ops;
  const double in_one = minibatches_in_one(plan, schedule.rules.sharing);
  simulated.minibatches_per_second = simulated.summary.minibatches_per_second() * in_one;
  simulated.samples_per_update =
      samples_per_update(plan, schedule.rules, profile.batch.value_or(1));
  if (profile.batch)
    simulated.samples_per_second =
        simulated.minibatches_per_second * static_cast<double>(*profile.batch);
  simulated.bytes_per_minibatch =
      result.bytes / (static_cast<double>(training.minibatches) * in_one);
  simulated.memory =
      memory_of(plan, profile, schedule.rules, result.peaks, wishes.optimiser_copies);
  return simulated;
}

}  // namespace pipedream::systems
