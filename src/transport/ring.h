// Sums over workers by a ring (docs/runtime.md). Users call all_reduce() of transport/all_reduce.h.
//
// One level: the members form a ring. Let r be their number and v[m] the values of member m. Chunk
// c of the n values, c = 0 … r−1, is [n·c/r, n·(c+1)/r) (rounded down, maybe empty). The sum of
// chunk c starts at member c and goes once around:
//
//   ((v[c] + v[c+1]) + v[c+2]) + … + v[c+r−1]       members modulo r, additions in float
//
// Two levels: h hosts with k members each.
//   1. The members of each host sum among themselves as above. Member j of a host (in the order of
//      members) then holds chunk (j+1) mod k of the host's sums.
//   2. The j-th members of all hosts sum that chunk among themselves as above, in the order of
//      hosts. For this the values of the chunk are cut into h smaller chunks.
//   3. The members of each host hand their chunks around.
//
// Members that can read each other's memory do so, if their owner allows it (Way::reads_memory):
// those of one level, or those of each host in steps 1 and 3 of two levels. The order of additions
// stays (host_sums.h).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "transport/sums.h"

namespace pipedream::transport {

// Replaces `values` by their sums over `members`. The caller is one of them. `owner` keeps the
// values alive; if it is null, no member's memory is read. All members give one or none does.
void sum_by_ring(Exchanger& exchanger, std::span<const WorkerId> members, std::span<float> values,
                 const std::shared_ptr<const void>& owner = nullptr);

// Replaces `values` by their sums over the members of all `hosts`. Each element of `hosts` lists
// the members on one host; all have the same length. Every member passes the same lists.
void sum_by_two_rings(Exchanger& exchanger, const std::vector<std::vector<WorkerId>>& hosts,
                      std::span<float> values, const std::shared_ptr<const void>& owner = nullptr);

}  // namespace pipedream::transport
