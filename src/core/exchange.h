// The ways in which the replicas of a stage average their gradients
// (docs/runtime.md#data-parallelism).
#pragma once

#include <string>
#include <vector>

namespace pipedream {

// Let m be the number of replicas and W the bytes of their gradients. With each of these, a replica
// sends 2(m−1)/m·W bytes. transport/ring.h and transport/shards.h define the orders of summation.
//   ring              a ring all-reduce: each replica sends to the next one that the plan names
//                     for the stage, in 2(m−1) steps
//   all-to-all        each replica sums one shard: all others send it that shard, and it sends the
//                     sum back to all of them, in 2 steps
//   parameter server  a parameter server on each replica holds one shard of the weights; pushing
//                     and pulling sends the same messages over the same links as all-to-all
enum class Exchange { kRing, kAllToAll, kParameterServer };

// Returns the names that the command line uses, in the order of the enumerators.
[[nodiscard]] inline const std::vector<std::string>& exchange_names() {
  static const std::vector<std::string> names{"ring", "all-to-all", "ps"};
  return names;
}

}  // namespace pipedream
