#include "systems/ranking.h"

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "systems/simulation.h"

namespace pipedream::systems {
namespace {

// A candidate is not simulated if its predicted time exceeds the shortest simulated time by more
// than this factor.
constexpr double kHopeless = 1.1;

// Candidates within this factor of the fastest in a short simulation are simulated in full.
constexpr double kClose = 1.05;
// A short simulation has a part of the minibatches of a full one: one in kShortPart. It has at
// least kFewest minibatches and at least kFewestItems items.
constexpr std::int64_t kShortPart = 4;
constexpr std::int64_t kFewest = 24;
constexpr std::int64_t kFewestItems = 96;

class Ranking {
 public:
  // Keeps references to all arguments.
  Ranking(const System& system, const plan::Predictor& predictor,
          const std::vector<plan::Answer>& candidates)
      : system_(system), predictor_(predictor), candidates_(candidates) {}

  // A candidate's index and its simulated time per minibatch.
  using Timed = std::pair<std::size_t, Seconds>;

  // Returns the candidate to take, with its time in full simulation; nullopt if all are too large.
  [[nodiscard]] std::optional<Timed> best() const {
    std::vector<Timed> times;
    Seconds shortest(std::numeric_limits<double>::infinity());
    for (const auto& [i, short_time] : close_ones()) {
      const plan::Plan plan = plan_of(i);
      const std::int64_t all = enough_minibatches(plan);
      times.emplace_back(i, short_of(plan) == all ? short_time : simulated(plan, all));
      shortest = std::min(shortest, times.back().second);
    }
    std::optional<Timed> best;
    for (const Timed& each : times)
      if (each.second <= shortest * kAsFast && (!best || key(each) < key(*best))) best = each;
    return best;
  }

 private:
  // Of equally fast plans, the one that sends least is taken, then the fastest: real links are
  // slower than simulated ones more often than they are faster.
  [[nodiscard]] std::pair<double, Seconds> key(const Timed& of) const {
    return {candidates_[of.first].prediction.bytes_per_minibatch, of.second};
  }

  // Returns the candidates that are close to the fastest in a short simulation, with the times that
  // they have in it.
  [[nodiscard]] std::vector<Timed> close_ones() const {
    std::vector<Timed> times;
    Seconds shortest(std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].prediction.per_minibatch > shortest * kHopeless) continue;
      const plan::Plan plan = plan_of(i);
      if (std::int64_t{plan::worker_count(plan)} * plan.microbatches > kMostToSimulate) continue;
      times.emplace_back(i, simulated(plan, short_of(plan)));
      shortest = std::min(shortest, times.back().second);
    }
    std::erase_if(times, [&](const Timed& each) { return each.second > shortest * kClose; });
    return times;
  }

  [[nodiscard]] plan::Plan plan_of(std::size_t i) const {
    const plan::Answer& answer = candidates_[i];
    return plan::to_plan(predictor_.cuts(), answer.layout, answer.prediction, system_.name);
  }

  // Returns the simulated time per minibatch, from a simulation of so many minibatches.
  [[nodiscard]] Seconds simulated(const plan::Plan& plan, std::int64_t minibatches) const {
    SimulationWishes wishes;
    wishes.conditions.exchange = predictor_.setting().exchange;
    wishes.conditions.loading = false;  // as in the prediction
    wishes.schedule_options.minibatches = minibatches;
    return Seconds(1 /
                   simulate_plan(plan, predictor_.cuts().profile(), predictor_.cluster(), wishes)
                       .minibatches_per_second);
  }

  // Returns how many minibatches a short simulation has: whole rounds of the first stage's
  // replicas. A full simulation of a system without stale weights is short already.
  [[nodiscard]] std::int64_t short_of(const plan::Plan& plan) const {
    const std::int64_t all = enough_minibatches(plan);
    if (!system_.traits.is_stale()) return all;
    const auto replicas = static_cast<std::int64_t>(plan.stages.front().workers.size());
    const std::int64_t fewest = std::max(kFewest, kFewestItems / plan.microbatches);
    const std::int64_t wanted = std::min(all, std::max(all / kShortPart, fewest));
    return (wanted + replicas - 1) / replicas * replicas;
  }

  const System& system_;
  const plan::Predictor& predictor_;
  const std::vector<plan::Answer>& candidates_;
};

}  // namespace

Ranked fastest_simulated(const System& system, const plan::Predictor& predictor,
                         std::vector<plan::Answer> candidates) {
  PD_CHECK(!candidates.empty());
  const auto best = Ranking(system, predictor, candidates).best();
  if (!best) return {std::move(candidates.front()), {}};
  return {std::move(candidates[best->first]), best->second};
}

}  // namespace pipedream::systems
