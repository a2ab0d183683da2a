// How an Update turns gradients into new weights.
#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pipedream::runtime {

// What an update does with one parameter: reads `from` and `gradient`, writes `to`, which may be
// the same memory as `from`. What `gradient` holds afterwards is not used.
struct ParameterStep {
  std::size_t parameter = 0;
  at::Tensor from;
  at::Tensor gradient;
  at::Tensor to;
  double divisor = 1;  // of the gradient; 1 unless the optimiser divides()
};

// The optimiser of one stage on one worker; keeps its state (momentum) per parameter. Runs without
// autograd.
class Optimiser {
 public:
  virtual ~Optimiser() = default;

  // Whether its steps divide gradients as they read them. For others that is done before.
  [[nodiscard]] virtual bool divides() const { return false; }
  virtual void step(const ParameterStep& step) = 0;
  // All of one update. A device may be given them as fewer and larger pieces of work.
  virtual void step_all(const std::vector<ParameterStep>& steps) {
    for (const ParameterStep& each : steps) step(each);
  }
};

}  // namespace pipedream::runtime
