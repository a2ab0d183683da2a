// Sums over workers, by any of the ways that gradients are exchanged.
#pragma once

#include <span>
#include <vector>

#include "core/exchange.h"
#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::transport {

// How a group sums; the same for all its members.
struct Way {
  Exchange exchange = Exchange::kRing;
  // The host of each worker, by any numbers. Empty: all are on one. A ring over members on several
  // hosts, as many on each, has two levels, so that each value crosses between two hosts as often
  // as it would with one member on each.
  std::vector<int> host_of;
};

struct Summed {
  Nanos waited{0};  // until the others had begun, too; of a ring, the member before
  Bytes sent;  // over all r members: 2·(r−1) times the bytes of the values, whatever the way
};

// Replaces `values` by their sums over `members`, who all call this with the same members (in the
// same order, the caller among them), the same tag and as many values. One member: nothing to do.
// The orders of summation are in ring.h and shards.h; all members end with the same bits.
// Throws as Transport::wait; `values` then holds sums in some places and what it held in others.
Summed all_reduce(Transport& transport, std::span<const WorkerId> members, int tag,
                  std::span<float> values, const Way& way, Deadline deadline);

}  // namespace pipedream::transport
