// What the planners of straight pipelines with balanced stages share: gpipe, torchgpipe and mp.
#pragma once

#include "systems/system.h"

namespace pipedream::systems {

struct BlockLimits {
  int fewest = 2;  // stages that are tried, where the user does not say how many
  int most = 1;    // workers that may have a stage
  std::string of;  // which workers these are, for messages: "of one machine"
};

// The user's split if `wishes.split` has one. Otherwise balanced stages: `wishes.stages` of them,
// or the fastest number within the limits.
[[nodiscard]] plan::Outcome plan_blocks(const plan::Predictor& predictor, const Wishes& wishes,
                                        const BlockLimits& limits);

}  // namespace pipedream::systems
