// A cluster as text for people.
#pragma once

#include <string>

#include "cluster/cluster.h"

namespace pipedream::report {

// Returns the levels of links from the innermost to the outermost, with bandwidth, latency and who
// shares a link, and then the devices.
[[nodiscard]] std::string cluster_table(const cluster::Cluster& cluster);

}  // namespace pipedream::report
