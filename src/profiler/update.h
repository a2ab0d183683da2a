// The update of a network's weights that the profiler times. The profiler's caller provides it.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pipedream::profiler {

// One parameter that an update changes.
struct WeightUpdate {
  std::size_t parameter = 0;  // its number, counted through all layers of the network
  at::Tensor weight;
  at::Tensor gradient;
};

// One step of an optimiser for the parameters in `updates`. It may write to all tensors. Autograd
// is off. For the model that is measured, a parameter's first step has a gradient of zero and is
// not timed, so that the optimiser can allocate its state there.
using Update = std::function<void(const std::vector<WeightUpdate>& updates)>;

}  // namespace pipedream::profiler
