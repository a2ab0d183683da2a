// A transport that moves messages in device memory directly from device to device (docs/gpu.md).
#pragma once

#include <memory>

#include "transport/lanes.h"
#include "transport/transport.h"

namespace pipedream::transport {

// Returns a transport that is built on another one, `companion`, which nobody else may use from
// then on. The companion carries messages in host memory, aborts, and for each message in device
// memory (Message::on_device) a note that announces it. The bytes of such a message go by a lane.
// Each ordered pair of workers has a lane of its own, opened when first used, so that no direction
// waits for another:
//
//   send ── ready ──┬── note ──▶ companion ──▶ memory, lane.receive ── done ──┬──▶ wait() returns
//                   └── lane.send ═══════════ bytes ═══════════▶              └──▶ note: taken
//
// The sender keeps a message until the other endpoint has received its bytes, which it does whether
// or not receive() was called. A message to oneself is copied. A received message lies in memory
// that the receiver's `lanes` allocated, and is complete when wait() returns it. The transport has
// two threads of its own: one listens to the companion, the other makes all calls to the lanes. A
// lane that breaks aborts the transport.
//
// Destroying the transport waits until each message sent has been received or its receiver has been
// destroyed, or until an abort.
[[nodiscard]] std::unique_ptr<Transport> connect_by_lanes(std::unique_ptr<Transport> companion,
                                                          std::unique_ptr<Lanes> lanes);

}  // namespace pipedream::transport
