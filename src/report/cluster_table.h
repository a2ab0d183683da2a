// A cluster as text for people.
#pragma once

#include <string>

#include "cluster/cluster.h"

namespace pipedream::report {

// Levels from the inside out, what one worker gets of each, and the devices.
[[nodiscard]] std::string cluster_table(const cluster::Cluster& cluster);

}  // namespace pipedream::report
