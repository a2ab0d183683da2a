// Convolution with a backward pass that is fast on x86-64 and on 64-bit Arm.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pipedream::model {

// at::conv2d with a square kernel, one group and no dilation; `bias` may be undefined. On a 64-bit
// Arm CPU, gradients in float are computed by matrix products over slices of the batch. libtorch
// would choose oneDNN, which has no fast path there and takes about twice as long (measured by
// `./run bench conv`).
[[nodiscard]] at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight,
                                  const at::Tensor& bias, std::int64_t stride,
                                  std::int64_t padding);

}  // namespace pipedream::model
