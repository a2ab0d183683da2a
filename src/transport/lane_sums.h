// Sums over workers on their devices.
#pragma once

#include <memory>

#include "transport/collective.h"
#include "transport/lanes.h"

namespace pipedream::transport {

// How a Reducer on that channel sums values that lie in device memory: in place, by one lane for
// each group of members, opened when they first sum. On the channel, under the sum's tag, the first
// member tells the others its name, and all meet before each sum: a device that waits for another
// member is held up by whatever makes it wait for all its work (nccl.h). They meet once more in the
// end, at most for some seconds. The channel carries nothing else.
//
//   Reducer reducer(channel, sum_by_lanes(channel, make_nccl_lanes(options)));
//   ticket = reducer.start(members, tag, values, owner, is_ready);
//   reducer.wait(ticket, deadline);  // now the sums are there, for any stream
//
// The order of summation is the lanes' own. NCCL's depends on sizes, devices and links: all members
// end with the same bits, but nothing promises those of ring.h, nor the same ones elsewhere.
[[nodiscard]] Sum sum_by_lanes(Transport& channel, std::unique_ptr<Lanes> lanes);

}  // namespace pipedream::transport
