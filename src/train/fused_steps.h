// Prepares the update of many parameters on a GPU for libtorch's fused optimiser kernels.
#pragma once

#include <array>
#include <vector>

#include "runtime/optimiser.h"

namespace pipedream::train {

// The tensors of all steps as the lists that libtorch's fused optimisers take. A fused optimiser
// updates weights in place. So if a step writes to other memory than it reads (`to` is not `from`),
// the constructor copies `from` to `to`, and the kernel then updates `to`.
class FusedSteps {
 public:
  explicit FusedSteps(const std::vector<runtime::ParameterStep>& steps);

  // Whether a fused optimiser can take the steps. There must be at least one; all weights must be
  // floats on a GPU, and each gradient must be floats with the strides of its weights. If false,
  // weights() and gradients() are empty and nothing was copied.
  [[nodiscard]] bool is_possible() const { return possible_; }
  [[nodiscard]] const std::vector<at::Tensor>& weights() const { return weights_; }
  [[nodiscard]] const std::vector<at::Tensor>& gradients() const { return gradients_; }

 private:
  bool possible_;
  std::vector<at::Tensor> weights_;
  std::vector<at::Tensor> gradients_;
};

// The steps in two groups: those of parameters with several dimensions, and those of the others,
// such as biases and the scales of normalisations. For optimisers that let only the first decay.
[[nodiscard]] std::array<std::vector<runtime::ParameterStep>, 2> by_decay(
    const std::vector<runtime::ParameterStep>& steps);

}  // namespace pipedream::train
