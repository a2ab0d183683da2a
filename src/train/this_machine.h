// The workers of this machine, as a cluster to plan for.
#pragma once

#include "cluster/cluster.h"
#include "profile/profile.h"

namespace pipedream::train {

// A cluster of `workers` workers on this machine. If the profile was measured on a GPU, they take
// the machine's GPUs in turn. Throws CannotMeet if the machine then has none.
[[nodiscard]] cluster::Cluster this_machine_for(const profile::Profile& profile, int workers);

}  // namespace pipedream::train
