// Convolution with a backward pass that is fast on every CPU we meet.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pipedream::model {

// at::conv2d on square kernels, one group, no dilation; `bias` may be undefined. On 64-bit Arm the
// gradients are computed by matrix products over slices of the batch: oneDNN, which libtorch would
// choose, has no fast path there and needs about twice as long (`./run bench conv`).
[[nodiscard]] at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight,
                                  const at::Tensor& bias, std::int64_t stride,
                                  std::int64_t padding);

}  // namespace pipedream::model
