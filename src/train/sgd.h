// Stochastic gradient descent with momentum, by the formula of torch.optim.SGD.
#pragma once

#include <map>

#include "runtime/optimiser.h"

namespace pipedream::train {

struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0;
};

// v ← momentum·v + g (v = g at the first step), w ← w − learning_rate·v.
class Sgd final : public runtime::Optimiser {
 public:
  explicit Sgd(SgdOptions options) : options_(options) {}
  void step(std::size_t parameter, const at::Tensor& from, const at::Tensor& gradient,
            const at::Tensor& to) override;

 private:
  SgdOptions options_;
  std::map<std::size_t, at::Tensor> velocity_;
};

}  // namespace pipedream::train
