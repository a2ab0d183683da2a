// Sums over workers by a ring: each worker sends and receives 2·n·(r−1)/r values, which no
// algorithm betters.
#pragma once

#include <span>

#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::transport {

// Replaces `values` by their sums over `members`, who all call this with the same members (in the
// same order, the caller among them), the same tag and as many values. One member: nothing to do.
//
// The order of summation. Let r = members.size() and v[m] the values of member m, counted as in
// `members`. Chunk c of the n values, c = 0 … r−1, is [n·c/r, n·(c+1)/r) (rounded down, maybe
// empty). Its sums start at member c and go once around:
//
//   ((v[c] + v[c+1]) + v[c+2]) + … + v[c+r−1]       members modulo r, additions in float
//
// All members end with the same bits.
//
// Returns how long it waited for the first message of the member before: how late the others were.
// Throws as Transport::wait; `values` then holds sums in some chunks and what it held in the
// others.
Nanos ring_all_reduce(Transport& transport, std::span<const WorkerId> members, int tag,
                      std::span<float> values, Deadline deadline);

}  // namespace pipedream::transport
