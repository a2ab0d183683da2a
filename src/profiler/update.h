// The update of a network's weights, as whoever asks for a profile hands it to the profiler.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pipedream::profiler {

// One parameter; they are numbered through all layers of the network.
struct WeightUpdate {
  std::size_t parameter = 0;
  at::Tensor weight;
  at::Tensor gradient;
};

// One step of an optimiser for these parameters. May write to all tensors. Autograd is off. Each
// parameter's first gradient is zero, and that step is not timed.
using Update = std::function<void(const std::vector<WeightUpdate>& updates)>;

}  // namespace pipedream::profiler
