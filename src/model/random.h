// Random tensors from the counter-based generator (core/philox.h).
#pragma once

#include <ATen/core/Tensor.h>

#include "core/philox.h"
#include "model/layer.h"

namespace pipedream::model {

// A new tensor of uniform numbers in [0, 1). On CPU element i depends on (`key`, i) alone. On other
// devices a copy of torch's own counter-based generator is seeded with `key`; torch's global state
// stays as it is.
[[nodiscard]] at::Tensor uniform(at::IntArrayRef shape, RandomKey key, at::Device device);

// The same for normal numbers, of mean 0 and variance 1.
[[nodiscard]] at::Tensor normal(at::IntArrayRef shape, RandomKey key, at::Device device);

// A new tensor initialised as `spec` says. It is on CPU, so that initial weights are the same for
// every device that trains them.
[[nodiscard]] at::Tensor initial_tensor(const TensorSpec& spec, RandomKey key);

// The factors that dropout multiplies with, of x's type and device: 0 with probability `p`, else
// 1 / (1 − p). All are 0 if `p` is 1.
[[nodiscard]] at::Tensor drop_scale(at::IntArrayRef shape, double p, const Pass& pass,
                                    const at::Tensor& x);

// Sets each element of `x` to zero with probability `p` and scales the others by 1 / (1 − p).
// Returns `x` itself if `pass` is not training or `p` is 0.
[[nodiscard]] at::Tensor dropout(const at::Tensor& x, double p, const Pass& pass);

}  // namespace pipedream::model
