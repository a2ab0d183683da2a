// Sums over workers on their devices.
#pragma once

#include <memory>

#include "transport/collective.h"
#include "transport/lanes.h"

namespace pipedream::transport {

// How a Reducer on that channel sums values that lie in device memory: in place, by one lane for
// each group of members, opened when they first sum. The first member tells the others its name on
// the channel, under the sum's tag; the channel carries nothing else.
//
//   Reducer reducer(channel, sum_by_lanes(channel, make_nccl_lanes(options)));
//   ticket = reducer.start(members, tag, values, owner, is_ready);
//   reducer.wait(ticket, deadline);  // now the sums are there, for any stream
//
// The order of summation is the lanes' own. NCCL's depends on sizes, devices and links: all members
// end with the same bits, but nothing promises those of ring.h, nor the same ones elsewhere. How
// late the others were is not known (Summed::waited is 0).
[[nodiscard]] Sum sum_by_lanes(Transport& channel, std::unique_ptr<Lanes> lanes);

}  // namespace pipedream::transport
