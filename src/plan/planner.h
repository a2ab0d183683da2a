// What every planner returns (docs/planner.md#the-planners). Planners are pure functions of a
// Predictor and options: the same inputs give the same answer, and no clock, file or device is
// read.
#pragma once

#include <optional>
#include <string>
#include <variant>

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

// Returns the refusal if no plan fits the memory. Its text says by how many bytes, and on which
// stage, the best attempt misses.
[[nodiscard]] Refusal out_of_memory(const MemoryMiss& nearest);

// Returns `layout` as an answer without a bound, for planners that build a layout by a fixed rule;
// a refusal if it does not fit the memory.
[[nodiscard]] Outcome as_outcome(const Predictor& predictor, Layout layout);

}  // namespace pipedream::plan
