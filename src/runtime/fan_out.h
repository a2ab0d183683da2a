// Gives each use of a value a tensor of its own, so that the order in which autograd sums their
// gradients is known (docs/runtime.md: Sums).
#pragma once

#include "model/layer.h"

namespace pipedream::runtime {

// Returns `count` tensors with the content of `x`. The gradient of `x` is the sum of their
// gradients, from the first tensor to the last; tensors that got no gradient are left out.
[[nodiscard]] model::Tensors fan_out(const at::Tensor& x, std::size_t count);

}  // namespace pipedream::runtime
