// Tensors as transport messages, without a copy.
#pragma once

#include <ATen/core/Tensor.h>

#include "transport/transport.h"

namespace pipedream::runtime {

// The message shares the tensor's memory, which must not change afterwards. CPU tensors only.
// Memory that nobody else has here counts with the receiver from then on (model/memory_meter.h).
[[nodiscard]] transport::Message to_message(const at::Tensor& tensor);

// A tensor over the message's memory; it must not be written to.
[[nodiscard]] at::Tensor to_tensor(const transport::Message& message);

}  // namespace pipedream::runtime
