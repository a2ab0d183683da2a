// An update of many parameters on a GPU as one piece of work.
#pragma once

#include <vector>

#include "runtime/optimiser.h"

namespace pipedream::train {

// The steps as lists for libtorch's fused optimisers, which write over the weights that they read:
// where others are to be written, those begin as copies.
class FusedSteps {
 public:
  explicit FusedSteps(const std::vector<runtime::ParameterStep>& steps);

  // Whether they can be one piece of work: all of floats on a GPU, each with its gradient's layout.
  [[nodiscard]] bool is_possible() const { return possible_; }
  [[nodiscard]] const std::vector<at::Tensor>& weights() const { return weights_; }
  [[nodiscard]] const std::vector<at::Tensor>& gradients() const { return gradients_; }

 private:
  bool possible_;
  std::vector<at::Tensor> weights_;
  std::vector<at::Tensor> gradients_;
};

}  // namespace pipedream::train
