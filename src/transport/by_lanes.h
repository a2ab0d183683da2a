// Messages of device memory between workers, from device to device.
#pragma once

#include <memory>

#include "transport/lanes.h"
#include "transport/transport.h"

namespace pipedream::transport {

// A transport beside another, its companion, which is for nobody else from then on. The companion
// carries what is the host's, aborts, and for bytes of a device (Message::on_device) a note that
// they come. They go by a lane of their own for each ordered pair of workers, opened when first
// used, so that no direction waits for another:
//
//   send ── ready ──┬── note ──▶ companion ──▶ memory, lane.receive ── done ──┬──▶ wait() returns
//                   └── lane.send ═══════════ bytes ═══════════▶              └──▶ note: taken
//
// A message is kept until the receiver has taken it, asked for or not; one to oneself is copied. A
// received one lies in memory of the receiver's lanes and is there in full. Two threads of its own
// do all this, one of which makes all calls to the lanes. A lane that breaks aborts the transport.
//
// Destroying waits until all that was sent is taken, or whom it was for is gone, or an abort.
[[nodiscard]] std::unique_ptr<Transport> connect_by_lanes(std::unique_ptr<Transport> companion,
                                                          std::unique_ptr<Lanes> lanes);

}  // namespace pipedream::transport
