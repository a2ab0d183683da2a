// What a stage of a finished plan is made of.
#pragma once

#include "cost/memory.h"
#include "plan/plan.h"
#include "profile/profile.h"

namespace pipedream::plan {

// Whoever runs a stage's layers runs them in the order of the graph.
[[nodiscard]] cost::LayerSize layer_size(const profile::Profile& profile, LayerId layer);

// The same as Cuts::size for the stage between two cuts; for any set of layers.
[[nodiscard]] cost::StageSize stage_size(const profile::Profile& profile,
                                         const std::vector<LayerId>& layers);

}  // namespace pipedream::plan
