// The machine that runs us, as a cluster.
#pragma once

#include <optional>

#include "cluster/cluster.h"

namespace pipedream::cluster {

// `workers` workers that share this machine's memory evenly, or have `memory` each. Between them
// goes what memory copies carry, or what `link` says.
[[nodiscard]] Cluster this_machine(int workers, std::optional<Bandwidth> link,
                                   std::optional<Bytes> memory = std::nullopt);

}  // namespace pipedream::cluster
