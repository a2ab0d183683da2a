// All-reduce: sums of values over a group of workers, in each of the ways that gradients are
// exchanged (docs/runtime.md).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/exchange.h"
#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::transport {

// How a group of workers sums. All members of the group must use the same way.
struct Way {
  Exchange exchange = Exchange::kRing;
  // For each worker a number that names its host. Empty means that all workers are on one host. A
  // ring has two levels if its members are on several hosts, with the same number of members, two
  // or more, on each. Then each value crosses between two hosts only as often as with one member on
  // each host.
  std::vector<int> host_of;
  // Whether the members of a ring that can read each other's memory do so, in place of messages.
  // all_reduce() needs an owner of the values then.
  bool reads_memory = false;
};

// What a sum cost the worker that called all_reduce().
struct Summed {
  // Time spent waiting for the other members to begin; in a ring, for the preceding member.
  Nanos waited{0};
  // Sent by this worker. Over all r members it adds up to 2·(r−1) times the bytes of the values,
  // whatever the way.
  Bytes sent;
};

// Replaces `values` by their sums over `members`. Every member calls it with the same `members` (in
// the same order, the caller among them), the same `tag` and `way`, and the same number of values.
// With one member it does nothing. ring.h and shards.h state the orders of summation; all members
// end with the same bits. Throws as Transport::wait() does; `values` then holds sums in some places
// and its old content in others. If other members may read the values (Way::reads_memory), `owner`
// keeps them alive, also after a failure of this member.
Summed all_reduce(Transport& transport, std::span<const WorkerId> members, int tag,
                  std::span<float> values, const Way& way, Deadline deadline,
                  const std::shared_ptr<const void>& owner = nullptr);

}  // namespace pipedream::transport
