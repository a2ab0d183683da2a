// A value under several names, so that the gradients of its uses come in apart.
#pragma once

#include "model/layer.h"

namespace pipedream::runtime {

// `count` tensors with the content of x. Autograd adds their gradients up in their order, those
// that were not used left out.
[[nodiscard]] model::Tensors fan_out(const at::Tensor& x, std::size_t count);

}  // namespace pipedream::runtime
