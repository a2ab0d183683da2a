// The interface by which an Update turns gradients into new weights. src/train has the optimisers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
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
  double rate = 1;            // the learning rate is multiplied by it; the same in all steps of an
                              // update
};

// The optimiser state of one parameter, by the names that checkpoints give it, such as "momentum".
using OptimiserState = std::map<std::string, at::Tensor>;

// The state that holds the exponential moving average of a parameter (train/weight_average.h), for
// optimisers that keep one.
inline constexpr const char* kAverage = "ema";

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

  // The names that state() may have, ascending.
  [[nodiscard]] virtual std::vector<std::string> state_names() const = 0;
  // Returns the state of a parameter; empty if there was no step. The tensors share the optimiser's
  // memory. They have the parameter's shape, except numbers such as the count of steps.
  [[nodiscard]] virtual OptimiserState state(std::size_t parameter) const = 0;
  // Replaces the state of a parameter by a copy of `state`, which state() of an optimiser of the
  // same kind returned. `weights` is the parameter as later steps have it in `from`.
  virtual void set_state(std::size_t parameter, const OptimiserState& state,
                         const at::Tensor& weights) = 0;
};

}  // namespace pipedream::runtime
