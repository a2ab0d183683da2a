#include "model/sample_inputs.h"

#include "model/random.h"

namespace pipedream::model {

at::Tensor sample_input(const InputSpec& input, std::uint64_t seed, std::int64_t minibatch) {
  const RandomKey key{.seed = seed, .layer = input.layer.value, .minibatch = minibatch};
  const at::Tensor numbers = uniform(input.shape, key, at::kCPU);
  if (input.bound == 0) return numbers.to(input.type);
  return numbers.mul_(static_cast<double>(input.bound))
      .to(at::kLong)
      .clamp_max_(input.bound - 1)  // rounding may turn a number just below `bound` into `bound`
      .to(input.type);
}

}  // namespace pipedream::model
