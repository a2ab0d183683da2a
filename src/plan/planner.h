// What every planner takes and gives. Planners are pure: the same inputs give the same answer; no
// clock, file or device is read.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "plan/predict.h"

namespace pipedream::plan {

struct Answer {
  Layout layout;
  Prediction prediction;  // by the default cost model, or what the planner's own says (objective)
  // What the planner made as small as it could: seconds per minibatch under its own cost model.
  Seconds objective{0};
  // No plan of the planner's space has a smaller objective than this. Equal to the objective: the
  // answer is proved to be the best. None where the planner claims nothing.
  std::optional<Seconds> bound;

  [[nodiscard]] std::optional<double> gap() const {
    if (!bound) return std::nullopt;
    return bound->count() > 0 ? (objective - *bound) / *bound : 0;
  }
};

// Why there is no answer; `nearest` where memory is the reason.
struct Refusal {
  std::string why;
  std::optional<MemoryMiss> nearest;
};

using Outcome = std::variant<Answer, Refusal>;

// "the best attempt found needs 1.2 GiB too much on stage 0": for what fits no memory.
[[nodiscard]] Refusal out_of_memory(const MemoryMiss& nearest);

// The answer of a planner that made this layout by a rule of its own and claims nothing about its
// speed; a refusal when it does not fit.
[[nodiscard]] Outcome as_outcome(const Predictor& predictor, Layout layout);

}  // namespace pipedream::plan
