// How replicas of a stage average their gradients.
#pragma once

#include <string>
#include <vector>

namespace pipedream {

// m replicas, W bytes of gradients (transport/ring.h and shards.h have the orders of summation):
//   ring             neighbours, in worker order; each sends 2(m−1)/m·W in 2(m−1) steps
//   all-to-all       everyone sends every other his shard, then the sum; 2(m−1)/m·W in 2 steps
//   parameter server the weights are sharded over the replicas, which push and pull: the volume
//                    and the links are those of all-to-all
enum class Exchange { kRing, kAllToAll, kParameterServer };

// As on the command line, in the order of the enumeration.
[[nodiscard]] inline const std::vector<std::string>& exchange_names() {
  static const std::vector<std::string> names{"ring", "all-to-all", "ps"};
  return names;
}

}  // namespace pipedream
