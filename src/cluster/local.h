// The machine that runs this program, described as a cluster.
#pragma once

#include <optional>

#include "cluster/cluster.h"

namespace pipedream::cluster {

// Returns a cluster of one level with `workers` workers. Each has `memory`, by default an equal
// share of this machine's memory. The bandwidth between them is `link`, by default that of memory
// copies.
[[nodiscard]] Cluster this_machine(int workers, std::optional<Bandwidth> link,
                                   std::optional<Bytes> memory = std::nullopt);

}  // namespace pipedream::cluster
