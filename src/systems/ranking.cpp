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
// A full simulation is hardly ever faster than a short one by more than this factor.
constexpr double kShortError = 1.03;
// A short simulation has a part of the minibatches of a full one: one in kShortPart. It has at
// least kFewest minibatches, kFewestItems items, and kFewestRounds rounds of the stage with the
// most replicas: where replicas wait for each other, the first rounds say little about later ones.
constexpr std::int64_t kShortPart = 6;
constexpr std::int64_t kFewest = 24;
constexpr std::int64_t kFewestItems = 96;
constexpr std::int64_t kFewestRounds = 24;

class Ranking {
 public:
  // Keeps references to all arguments.
  Ranking(const System& system, const plan::Predictor& predictor,
          const std::vector<plan::Answer>& candidates)
      : system_(system), predictor_(predictor), candidates_(candidates) {}

  // A candidate's index and its simulated time per minibatch.
  using Timed = std::pair<std::size_t, Seconds>;

  // Returns the candidate to take, with its time in full simulation; nullopt if all are too large.
  // Those that send least are simulated first, until one is found that is hardly more than kAsFast
  // slower than any of the others.
  [[nodiscard]] std::optional<Timed> best() const {
    std::vector<Timed> times = close_ones();
    std::sort(times.begin(), times.end(),
              [&](const Timed& a, const Timed& b) { return key(a) < key(b); });
    Seconds least(std::numeric_limits<double>::infinity());
    for (const Timed& each : times)
      least = std::min(least, std::max(each.second / kShortError, least_time(each.first)));
    Seconds shortest(std::numeric_limits<double>::infinity());
    std::optional<Timed> best;
    for (auto next = times.begin(); next != times.end();) {
      lengthen(*next);
      shortest = std::min(shortest, next->second);
      ++next;
      best = *std::find_if(times.begin(), next,
                           [&](const Timed& each) { return each.second <= shortest * kAsFast; });
      if (best->second <= least * kAsFast) break;
    }
    return best;
  }

 private:
  // Of equally fast plans, the one that sends least is taken, then the fastest: real links are
  // slower than simulated ones more often than they are faster.
  [[nodiscard]] std::pair<double, Seconds> key(const Timed& of) const {
    return {candidates_[of.first].prediction.bytes_per_minibatch, of.second};
  }

  // Replaces the time of a short simulation by that of a full one.
  void lengthen(Timed& timed) const {
    const plan::Plan plan = plan_of(timed.first);
    const std::int64_t all = enough_minibatches(plan);
    if (short_of(plan) != all) timed.second = simulated(plan, all);
  }

  // Returns the candidates that are close to the fastest in a short simulation, with the times that
  // they have in it.
  [[nodiscard]] std::vector<Timed> close_ones() const {
    std::vector<Timed> times;
    Seconds shortest(std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].prediction.per_minibatch > shortest * kHopeless) continue;
      const plan::Plan plan = plan_of(i);
      if (std::int64_t{plan::worker_count(plan)} * plan.microbatches * updated_at_once(plan) >
          kMostToSimulate)
        continue;
      times.emplace_back(i, simulated(plan, short_of(plan)));
      shortest = std::min(shortest, at_least(times.back()));
    }
    std::erase_if(times, [&](const Timed& each) { return at_least(each) > shortest * kClose; });
    return times;
  }

  // Returns the minibatches of an update for a system that flushes for each, else 1: other systems
  // are simulated for a number of minibatches that hardly depends on it.
  [[nodiscard]] int updated_at_once(const plan::Plan& plan) const {
    return system_.traits.is_stale() ? 1 : plan.accumulate;
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

  // Returns the time of a short simulation, or least_time() if that is longer.
  [[nodiscard]] Seconds at_least(const Timed& timed) const {
    return std::max(timed.second, least_time(timed.first));
  }

  // Returns a time per minibatch that no long simulation goes below: that of the busiest stage, of
  // the slowest averaging and of the busiest link. A short simulation may, because it ends before
  // averaging that is slower than compute holds compute back.
  [[nodiscard]] Seconds least_time(std::size_t i) const {
    const auto& [layout, prediction, objective, bound] = candidates_[i];
    if (!system_.traits.is_stale()) return Seconds{0};
    Seconds least = prediction.busiest.time;
    for (std::size_t s = 0; s < layout.stages(); ++s) {
      const plan::StagePrediction& stage = prediction.stages[s];
      const auto replicas = static_cast<double>(layout.workers[s].size());
      least = std::max({least, (stage.forward + stage.backward) / replicas,
                        stage.exchange / (replicas * prediction.accumulate)});
    }
    return least;
  }

  // Returns how many minibatches a short simulation has: whole updates of the first stage. A full
  // simulation of a system without stale weights is short already.
  [[nodiscard]] std::int64_t short_of(const plan::Plan& plan) const {
    const std::int64_t all = enough_minibatches(plan);
    if (!system_.traits.is_stale()) return all;
    std::size_t most = 1;
    for (const plan::Stage& stage : plan.stages) most = std::max(most, stage.workers.size());
    const std::int64_t fewest = std::max({kFewest, kFewestItems / plan.microbatches,
                                          kFewestRounds * static_cast<std::int64_t>(most)});
    const std::int64_t wanted = std::min(all, std::max(all / kShortPart, fewest));
    return whole_updates_of_first(plan, wanted);
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
