// What every planner returns (docs/planner.md#the-planners). Planners are pure functions of a
// Predictor and options: the same inputs give the same answer, and no clock, file or device is
// read.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/predict.h"

namespace pipedream::plan {

// The plan that a planner found.
struct Answer {
  Layout layout;
  Prediction prediction;  // of `layout`, by the default cost model
  // What the planner minimised: the time per minibatch, by the planner's own cost model.
  Seconds objective{0};
  // No plan in the planner's space has an objective below this bound. If it equals `objective`, the
  // answer is proved to be the best. nullopt if the planner proves nothing.
  std::optional<Seconds> bound;

  // Returns by how much the best plan can be faster at most, as a fraction of `bound`; nullopt
  // without a bound.
  [[nodiscard]] std::optional<double> gap() const {
    if (!bound) return std::nullopt;
    return bound->count() > 0 ? (objective - *bound) / *bound : 0;
  }
};

// Why a planner found no plan.
struct Refusal {
  std::string why;  // one line for people
  // The smallest miss of all plans tried, if memory is the reason.
  std::optional<MemoryMiss> nearest;
};

using Outcome = std::variant<Answer, Refusal>;

// Plans that fit the memory, the best by the planner's objective first, at least one; or why there
// is none. Whoever can judge them better than the planner, such as a simulation, chooses among
// them.
using Candidates = std::variant<std::vector<Answer>, Refusal>;

// Returns the first candidate, or the refusal.
[[nodiscard]] Outcome best_of(Candidates candidates);
// Returns the answer as the only candidate, or the refusal.
[[nodiscard]] Candidates only(Outcome outcome);
// Returns the candidates of all lists, the best first, without those that are there already. Their
// bound is the lowest of those that the lists have. If all lists are refusals, returns the one that
// misses the memory by least. Requires at least one list.
[[nodiscard]] Candidates joined(std::vector<Candidates> lists);

// How good a plan is; smaller is better: (rank, number of stages).
using Order = std::pair<Rank, std::size_t>;
[[nodiscard]] Order order(const Prediction& prediction);
// Sorts by objective, then by the number of stages. Of equals, the first stays ahead.
void sort_best_first(std::vector<Answer>& answers);
// Returns whether one of `answers` is the same plan as `answer`: the same layout, and the same
// microbatches, depths and recomputation.
[[nodiscard]] bool contains(const std::vector<Answer>& answers, const Answer& answer);

// Returns the refusal if no plan fits the memory. Its text says by how many bytes, and on which
// stage, the best attempt misses.
[[nodiscard]] Refusal out_of_memory(const MemoryMiss& nearest);

// Returns the layouts that fit as answers without a bound, the fastest first; a refusal if none
// fits. Of equally fast ones, the first stays ahead. Requires at least one layout.
[[nodiscard]] Candidates as_candidates(const Predictor& predictor, std::vector<Layout> layouts);

// Returns `layout` as an answer without a bound, for planners that build a layout by a fixed rule;
// a refusal if it does not fit the memory.
[[nodiscard]] Outcome as_outcome(const Predictor& predictor, Layout layout);

}  // namespace pipedream::plan
