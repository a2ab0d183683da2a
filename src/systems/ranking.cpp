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

// Candidates within this factor of the fastest count as equally fast: real links are slower than
// simulated ones more often than they are faster, so the plan that sends less is the safer one.
constexpr double kEquallyFast = 1.01;

// Candidates within this factor of the fastest in a short simulation are simulated in full.
constexpr double kClose = 1.05;
// A short simulation has one in so many minibatches, but not fewer than kFewest, nor fewer than
// kFewestItems items.
constexpr std::int64_t kShortPart = 4;
constexpr std::int64_t kFewest = 24;
constexpr std::int64_t kFewestItems = 96;

class Ranking {
 public:
  // Keeps references to all arguments.
  Ranking(const System& system, const plan::Predictor& predictor,
          const std::vector<plan::Answer>& candidates)
      : system_(system), predictor_(predictor), candidates_(candidates) {}

  // Returns the index and the time of the candidate to take, by full simulation; nullopt if all are
  // too large.
  [[nodiscard]] std::optional<std::pair<std::size_t, Seconds>> best() const {
    std::vector<std::pair<std::size_t, Seconds>> times;
    Seconds shortest(std::numeric_limits<double>::infinity());
    for (const std::size_t i : close_ones()) {
      times.emplace_back(i, simulated(plan_of(i), 1));
      shortest = std::min(shortest, times.back().second);
    }
    std::optional<std::pair<std::size_t, Seconds>> best;
    for (const auto& each : times)
      if (each.second <= shortest * kEquallyFast && (!best || key(each) < key(*best))) best = each;
    return best;
  }

 private:
  // Of equally fast plans, the one that sends least is taken, then the fastest.
  [[nodiscard]] std::pair<double, Seconds> key(const std::pair<std::size_t, Seconds>& of) const {
    return {candidates_[of.first].prediction.bytes_per_minibatch, of.second};
  }

  // Returns the candidates that are close to the fastest in a short simulation.
  [[nodiscard]] std::vector<std::size_t> close_ones() const {
    std::vector<std::pair<std::size_t, Seconds>> times;
    Seconds shortest(std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].prediction.per_minibatch > shortest * kHopeless) continue;
      const plan::Plan plan = plan_of(i);
      if (std::int64_t{plan::worker_count(plan)} * plan.microbatches > kMostToSimulate) continue;
      times.emplace_back(i, simulated(plan, kShortPart));
      shortest = std::min(shortest, times.back().second);
    }
    std::vector<std::size_t> close;
    for (const auto& [i, time] : times)
      if (time <= shortest * kClose) close.push_back(i);
    return close;
  }

  [[nodiscard]] plan::Plan plan_of(std::size_t i) const {
    const plan::Answer& answer = candidates_[i];
    return plan::to_plan(predictor_.cuts(), answer.layout, answer.prediction, system_.name);
  }

  // Returns the simulated time per minibatch. Systems without stale weights repeat themselves from
  // update to update, so a part of their few minibatches would not be faster to simulate.
  [[nodiscard]] Seconds simulated(const plan::Plan& plan, std::int64_t part) const {
    SimulationWishes wishes;
    wishes.conditions.exchange = predictor_.setting().exchange;
    wishes.conditions.loading = false;  // as in the prediction
    if (system_.traits.is_stale())
      wishes.schedule_options.minibatches = part_of(enough_minibatches(plan), part, plan);
    return Seconds(1 /
                   simulate_plan(plan, predictor_.cuts().profile(), predictor_.cluster(), wishes)
                       .minibatches_per_second);
  }

  // Returns `all` divided by `part`, but not too few, rounded up to whole rounds of the first
  // stage's replicas.
  [[nodiscard]] static std::int64_t part_of(std::int64_t all, std::int64_t part,
                                            const plan::Plan& plan) {
    const auto replicas = static_cast<std::int64_t>(plan.stages.front().workers.size());
    const std::int64_t fewest = std::max(kFewest, kFewestItems / plan.microbatches);
    const std::int64_t wanted = std::min(all, std::max(all / part, fewest));
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
