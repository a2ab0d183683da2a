// Reads and writes the cluster file, which is TOML (docs/formats.md#cluster).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cluster/cluster.h"

namespace pipedream::cluster {

// Parses the content of a cluster file; `file` is only used in messages. Throws BadFile with the
// file, the line and the place in the file if `content` is not a valid cluster.
[[nodiscard]] Cluster parse_cluster(std::string_view content, const std::string& file);

// Reads and parses the file at `path`. Throws BadFile, or IoError if the file cannot be read.
[[nodiscard]] Cluster read_cluster(const std::filesystem::path& path);

// Returns the content of a cluster file. parse_cluster() reads it back as an equal cluster.
[[nodiscard]] std::string to_toml(const Cluster& cluster);

}  // namespace pipedream::cluster
