// The sizes of the layers and stages of a finished plan (cost/memory.h).
#pragma once

#include "cost/memory.h"
#include "plan/plan.h"
#include "profile/profile.h"

namespace pipedream::plan {

// Returns the sizes of `layer`, as the profile has them.
[[nodiscard]] cost::LayerSize layer_size(const profile::Profile& profile, LayerId layer);

// Returns the sizes of a stage with `layers`, any set of layers. If they lie between two cuts, the
// result is that of Cuts::size(). A stage runs its layers in the order of the graph, so `layers`
// may be in any order.
[[nodiscard]] cost::StageSize stage_size(const profile::Profile& profile,
                                         const std::vector<LayerId>& layers);

}  // namespace pipedream::plan
