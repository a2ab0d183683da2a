// A cluster as text for people.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cluster/cluster.h"

namespace pipedream::report {

// Returns the levels of links from the innermost to the outermost, with bandwidth, latency and who
// shares a link, and then the devices.
[[nodiscard]] std::string cluster_table(const cluster::Cluster& cluster);
// Returns the same as JSON, in bytes and seconds (docs/formats.md#cluster).
[[nodiscard]] nlohmann::ordered_json cluster_json(const cluster::Cluster& cluster);

}  // namespace pipedream::report
