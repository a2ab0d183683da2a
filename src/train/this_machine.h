// The workers of this machine, as a cluster to plan for.
#pragma once

#include <optional>

#include "cluster/cluster.h"
#include "profile/profile.h"

namespace pipedream::train {

// A cluster of `workers` workers on this machine, joined by its memory or, with `link`, by emulated
// links of that speed. If the profile was measured on a GPU, they take
// the machine's GPUs in turn. Throws CannotMeet if the machine then has none.
[[nodiscard]] cluster::Cluster this_machine_for(
    const profile::Profile& profile, int workers,
    const std::optional<Bandwidth>& link = std::nullopt);

}  // namespace pipedream::train
