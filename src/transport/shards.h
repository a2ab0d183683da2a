// Sums over workers by shards (docs/runtime.md). It is the all-to-all exchange, and that of a
// sharded parameter server that sums but takes no optimiser step. Users call all_reduce() of
// transport/all_reduce.h.
//
// Let r be the number of members and v[m] the values of member m. Shard c of the n values is
// [n·c/r, n·(c+1)/r) (rounded down, maybe empty). Member c receives shard c from all other members,
// adds it up in the order of members, and sends the sum to all of them:
//
//   ((v[0] + v[1]) + v[2]) + … + v[r−1]             additions in float
#pragma once

#include <span>

#include "transport/sums.h"

namespace pipedream::transport {

// Replaces `values` by their sums over `members`. The caller is one of them.
void sum_by_shards(Exchanger& exchanger, std::span<const WorkerId> members,
                   std::span<float> values);

}  // namespace pipedream::transport
