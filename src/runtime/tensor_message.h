// Conversion between tensors and transport messages, which share the tensor's memory.
#pragma once

#include <cstddef>
#include <functional>

#include "runtime/host_copies.h"
#include "transport/lanes.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// The message shares the memory of `tensor`, on the host or on a device; its content must not
// change afterwards. Only a tensor that is neither contiguous nor channels last, or device memory
// that itself came with a message, is copied. If nothing else on this worker holds the memory, it
// counts as the receiver's from now on (model/memory_meter.h).
[[nodiscard]] transport::Message to_message(const at::Tensor& tensor);
// A message of host memory that becomes ready when the copy is done.
[[nodiscard]] transport::Message to_message(const HostCopies::Copy& copy);

// A tensor that shares the message's memory and must not be written to. Waits until a message in
// host memory is ready. For a message in device memory, it makes the calling thread's stream wait
// instead.
[[nodiscard]] at::Tensor to_tensor(const transport::Message& message);

// Returns an allocator of device memory for a transport to receive into. to_tensor() accepts
// messages in this memory. The allocations belong to a stream on which no work is ever queued, so
// no earlier work can still be using them. The allocator must be called from one thread only. It
// throws WorkerLost, with a text of to_reason() (failure.h), if there is too little memory.
[[nodiscard]] std::function<transport::DeviceMemory(std::size_t bytes)> memory_to_receive_into(
    at::Device device);

}  // namespace pipedream::runtime
