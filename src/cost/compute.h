// What a stage computes.
#pragma once

#include <vector>

#include "core/units.h"
#include "profile/profile.h"

namespace pipedream::cost {

struct StageTime {
  Nanos forward{0};
  Nanos backward{0};
};

// One minibatch through these layers on a device of speed 1: the sum of their measured times.
[[nodiscard]] StageTime stage_time(const profile::Profile& profile,
                                   const std::vector<LayerId>& layers);

}  // namespace pipedream::cost
