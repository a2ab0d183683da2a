// Pipelines of balanced stages without replicas: the layers in declared order, cut into contiguous
// blocks so that the largest block is as small as possible (docs/planner.md#the-planners). This is
// TorchGPipe's planner, and that of GPipe and model parallelism if the user gives no split. All
// functions that take a Predictor require that it was made with Cuts::in_declared_order.
#pragma once

#include <span>
#include <vector>

#include "plan/planner.h"

namespace pipedream::plan {

// What is balanced: the time of a minibatch, or the memory for weights, their gradients, optimiser
// state and activations.
enum class Balance { kTime, kSize };

// Cuts `sizes` into exactly `blocks` contiguous, non-empty blocks so that the largest sum of a
// block is the least possible. Returns the number of elements before each cut. If there are several
// such ways, returns the one whose blocks are filled from the front. Requires `blocks` from 1 to
// the number of sizes.
[[nodiscard]] std::vector<std::size_t> balanced_split(std::span<const std::int64_t> sizes,
                                                      int blocks);

// Numbers of stages that a planner may use.
struct StageRange {
  int fewest;
  int most;
};
// Returns the plans of balanced stages that fit, for all numbers of stages in `range`. Every stage
// has one worker, from the first worker on. `range` is cut down to the number of workers and
// layers; so one worker gets a single stage even if `range.fewest` is larger.
[[nodiscard]] Candidates plan_balanced(const Predictor& predictor, Balance balance,
                                       StageRange range);

// Returns the plan with the user's own split: `split` has the number of layers, in the order of the
// profile, before each cut. Throws BadValue if `split` is not ascending, is out of range, or has
// more stages than there are workers.
[[nodiscard]] Outcome plan_split(const Predictor& predictor, std::span<const int> split);

// Returns Layout::ends of `stages` balanced stages.
[[nodiscard]] std::vector<std::size_t> balanced_ends(const Predictor& predictor, Balance balance,
                                                     int stages);

}  // namespace pipedream::plan
