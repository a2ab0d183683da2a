// pipedream cluster probe: measures workers and links, and writes the cluster file.
#pragma once

#include <CLI/CLI.hpp>

namespace pipedream::cli {

// Adds the command `probe` to the command `cluster`.
void add_cluster_probe(CLI::App& cluster);

}  // namespace pipedream::cli
