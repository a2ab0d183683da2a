// The update of a network's weights, as whoever asks for a profile hands it to the profiler.
#pragma once

#include <cstddef>
#include <functional>

#include <ATen/core/Tensor.h>

namespace pipedream::profiler {

// One step of an optimiser for one parameter; parameters are numbered through all layers of the
// network. May write to both tensors. Autograd is off. Each parameter's first gradient is zero, and
// that step is not timed.
using Update = std::function<void(std::size_t parameter, const at::Tensor& weight,
                                  const at::Tensor& gradient)>;

}  // namespace pipedream::profiler
