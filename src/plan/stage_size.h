// What a stage of a finished plan is made of.
#pragma once

#include "cost/memory.h"
#include "plan/plan.h"
#include "profile/profile.h"

namespace pipedream::plan {

// The same as Cuts::size for the stage between two cuts; for any set of layers.
[[nodiscard]] cost::StageSize stage_size(const profile::Profile& profile,
                                         const std::vector<LayerId>& layers);

}  // namespace pipedream::plan
