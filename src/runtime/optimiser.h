// How an Update turns gradients into new weights.
#pragma once

#include <cstddef>

#include <ATen/core/Tensor.h>

namespace pipedream::runtime {

// The optimiser of one stage on one worker; keeps its state (momentum) per parameter.
class Optimiser {
 public:
  virtual ~Optimiser() = default;

  // Writes the new value of parameter number `parameter` into `to`; `from` and `to` may be the same
  // memory, and what `gradient` holds afterwards is not used. Runs without autograd.
  virtual void step(std::size_t parameter, const at::Tensor& from, const at::Tensor& gradient,
                    const at::Tensor& to) = 0;
};

}  // namespace pipedream::runtime
