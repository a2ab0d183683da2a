// Sums over workers by shards: all-to-all, and the sharded parameter server without its steps.
// Users call transport/all_reduce.h.
//
// Let r be the number of members and v[m] the values of member m. Shard c of the n values is
// [n·c/r, n·(c+1)/r) (rounded down, maybe empty). Member c gets it from all others, adds in the
// order of members, and sends everyone the sum:
//
//   ((v[0] + v[1]) + v[2]) + … + v[r−1]             additions in float
#pragma once

#include <span>

#include "transport/sums.h"

namespace pipedream::transport {

// Replaces the values by their sums over the members, the caller among them.
void sum_by_shards(Exchanger& exchanger, std::span<const WorkerId> members,
                   std::span<float> values);

}  // namespace pipedream::transport
