// Straight pipelines of balanced blocks: the layers in their order, cut into contiguous blocks so
// that the largest is as small as possible. TorchGPipe's planner; also GPipe's and model
// parallelism's where the user gives no split of his own. Their predictors must be made with
// Cuts::in_declared_order.
#pragma once

#include <span>
#include <vector>

#include "plan/planner.h"

namespace pipedream::plan {

enum class Balance { kTime, kSize };  // of a minibatch, or weights and what is kept

// Where to cut `sizes` into exactly `blocks` contiguous non-empty blocks (1 … their number) whose
// largest sum is the least possible: the number of elements before each cut. Of all such ways the
// one whose blocks are filled from the front.
[[nodiscard]] std::vector<std::size_t> balanced_split(std::span<const std::int64_t> sizes,
                                                      int blocks);

// `stages` balanced stages, one worker each, on the first workers; the fastest number of stages
// from `fewest` to `most` that fits. A single stage is a pipeline only when there is one worker.
struct StageRange {
  int fewest;
  int most;
};
[[nodiscard]] Outcome plan_balanced(const Predictor& predictor, Balance balance, StageRange range);

// The user's own split: the number of layers, in the order of the profile, before each cut.
// Throws BadValue for one that is not ascending or out of range, or has more stages than workers.
[[nodiscard]] Outcome plan_split(const Predictor& predictor, std::span<const int> split);

// The layers of each of so many balanced stages, as cuts.
[[nodiscard]] std::vector<std::size_t> balanced_ends(const Predictor& predictor, Balance balance,
                                                     int stages);

}  // namespace pipedream::plan
