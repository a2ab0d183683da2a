// The interface by which an Update turns gradients into new weights. src/train has the optimisers.
#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pipedream::runtime {

// One update of one parameter.
struct ParameterStep {
  std::size_t parameter = 0;  // names the optimiser state to use
  at::Tensor from;            // the weights before
  at::Tensor gradient;        // the optimiser may overwrite it
  at::Tensor to;              // the weights after; may be the same memory as `from`
  double divisor = 1;         // the gradient is divided by it; 1 unless the optimiser divides()
};

// The optimiser of one stage on one worker, or of one parameter server. Keeps its optimiser state,
// such as momentum, per parameter. Called with autograd off, by one thread at a time.
class Optimiser {
 public:
  virtual ~Optimiser() = default;

  // Whether steps divide gradients by `divisor` as they read them. If not, the caller divides them
  // before.
  [[nodiscard]] virtual bool divides() const { return false; }
  virtual void step(const ParameterStep& step) = 0;
  // Executes all steps of one update. May be overridden to give a device fewer, larger kernels.
  virtual void step_all(const std::vector<ParameterStep>& steps) {
    for (const ParameterStep& each : steps) step(each);
  }
};

}  // namespace pipedream::runtime
