// The planner that gpipe, torchgpipe and mp share: straight pipelines of balanced stages, or the
// user's own split.
#pragma once

#include "systems/system.h"

namespace pipedream::systems {

struct BlockLimits {
  int fewest = 2;  // the fewest stages that are tried if the user gives no number of stages
  int most = 1;    // the most stages: the number of workers that may have one
  std::string of;  // for messages: which workers `most` counts, such as "of one machine"
};

// Returns the plan with the user's split if `wishes.split` is set. Otherwise returns plans of
// balanced stages: `wishes.stages` of them, or each number from `limits.fewest` to `limits.most`.
// Returns a refusal if `wishes.stages` exceeds `limits.most` or the number of layers, or if nothing
// fits the memory. Throws BadValue for a split that is not valid (plan::plan_split).
[[nodiscard]] plan::Candidates plan_blocks(const plan::Predictor& predictor, const Wishes& wishes,
                                           const BlockLimits& limits);

}  // namespace pipedream::systems
