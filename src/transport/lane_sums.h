// All-reduce of values in device memory, by lanes (docs/gpu.md).
#pragma once

#include <memory>

#include "transport/collective.h"
#include "transport/lanes.h"

namespace pipedream::transport {

// Returns the function by which a Reducer on `channel` sums values in device memory, in place. Each
// group of members has a lane of its own, opened at its first sum. `channel` must outlive the
// function, and carries nothing but these messages, under the tag of the sum:
//   - The first member tells the others the name of the lane.
//   - All members meet before each sum, so that no device waits long for another member. While a
//     device waits in a sum, a CUDA call that waits for all work of the device, for example to
//     free memory, would hold up all members (nccl.h).
//   - All members meet once more when the function is destroyed, for 5 s at most.
//
//   Reducer reducer(channel, sum_by_lanes(channel, make_nccl_lanes(options)));
//   ticket = reducer.start(members, tag, values, owner, is_ready);
//   reducer.wait(ticket, deadline);  // from now on any stream may read the sums
//
// The lanes choose the order of summation. NCCL's order depends on sizes, devices and links. All
// members end with the same bits, but these may differ from the bits of ring.h, and from those that
// NCCL gives on other machines.
[[nodiscard]] Sum sum_by_lanes(Transport& channel, std::unique_ptr<Lanes> lanes);

}  // namespace pipedream::transport
