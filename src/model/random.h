// Random tensors from the counter-based generator (core/philox.h).
#pragma once

#include <ATen/core/Tensor.h>

#include "core/philox.h"
#include "model/layer.h"

namespace pipedream::model {

// A new tensor of uniform numbers in [0, 1). On CPU element i depends on (key, i) alone; on other
// devices torch's own counter-based generator is seeded with the key, never its global state.
[[nodiscard]] at::Tensor uniform(at::IntArrayRef shape, RandomKey key, at::Device device);

// A tensor that begins as `spec` says, on CPU: weights are the same whatever device trains them.
[[nodiscard]] at::Tensor initial_tensor(const TensorSpec& spec, RandomKey key);

// What dropout multiplies with, of x's type and device: 0 with probability p, else 1 / (1 − p).
[[nodiscard]] at::Tensor drop_scale(at::IntArrayRef shape, double p, const Pass& pass,
                                    const at::Tensor& x);

// Sets each element of x to zero with probability p and scales the others by 1 / (1 − p).
[[nodiscard]] at::Tensor dropout(const at::Tensor& x, double p, const Pass& pass);

}  // namespace pipedream::model
