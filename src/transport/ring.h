// Sums over workers by a ring. Users call transport/all_reduce.h.
//
// One level: members stand in a ring. Let r be their number and v[m] the values of member m. Chunk
// c of the n values, c = 0 … r−1, is [n·c/r, n·(c+1)/r) (rounded down, maybe empty). Its sums start
// at member c and go once around:
//
//   ((v[c] + v[c+1]) + v[c+2]) + … + v[c+r−1]       members modulo r, additions in float
//
// Two levels: h hosts with k members each. First the members of every host sum among themselves as
// above, so that member j of a host (in the order of members) then holds chunk (j+1) mod k of the
// host's sums; then the members j of all hosts sum that chunk over the hosts, in the order of
// hosts, as above (its own n values cut into h); then every host's members hand their chunks
// around.
#pragma once

#include <span>
#include <vector>

#include "transport/sums.h"

namespace pipedream::transport {

// Replaces the values by their sums over the members, the caller among them.
void sum_by_ring(Exchanger& exchanger, std::span<const WorkerId> members, std::span<float> values);

// The same where members are on hosts of as many members each; by host, in the same order for all.
void sum_by_two_rings(Exchanger& exchanger, const std::vector<std::vector<WorkerId>>& hosts,
                      std::span<float> values);

}  // namespace pipedream::transport
