// Tensors as transport messages, without a copy.
#pragma once

#include <cstddef>
#include <functional>

#include "runtime/host_copies.h"
#include "transport/lanes.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// The message shares the tensor's memory, which must not change afterwards, be it the host's or a
// device's. Memory that nobody else has here counts with the receiver from then on
// (model/memory_meter.h).
[[nodiscard]] transport::Message to_message(const at::Tensor& tensor);
// Of a copy on its way to the host.
[[nodiscard]] transport::Message to_message(const HostCopies::Copy& copy);

// A tensor over the message's memory; it must not be written to. Waits for what is on its way to
// the host; of a device's memory, the calling thread's stream waits.
[[nodiscard]] at::Tensor to_tensor(const transport::Message& message);

// Memory of an accelerator for what a transport receives there; to_tensor() takes messages over it.
// It belongs to a stream that is given no work, so that nothing that was queued before still uses
// it. Called by one thread.
[[nodiscard]] std::function<transport::DeviceMemory(std::size_t bytes)> memory_to_receive_into(
    at::Device device);

}  // namespace pipedream::runtime
