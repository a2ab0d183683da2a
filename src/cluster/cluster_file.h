// The cluster file (TOML; docs/formats.md#cluster).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cluster/cluster.h"

namespace pipedream::cluster {

// Throws BadFile with file, line and place for anything that is not a cluster.
[[nodiscard]] Cluster parse_cluster(std::string_view content, const std::string& file);

// The same from a file; also throws IoError.
[[nodiscard]] Cluster read_cluster(const std::filesystem::path& path);

// What parse_cluster reads back as the same value.
[[nodiscard]] std::string to_toml(const Cluster& cluster);

}  // namespace pipedream::cluster
