#include "train/adam.h"

#include <cmath>

#include <ATen/ops/addcdiv.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros_like.h>

namespace pipedream::train {

// The operations and their order are those of torch::optim::Adam and AdamW, for the same bits.
void Adam::step(std::size_t parameter, const at::Tensor& from, const at::Tensor& gradient,
                const at::Tensor& to) {
  const auto [rate, beta1, beta2, epsilon, decay, decoupled] = options_;
  State& state = state_of(parameter, from);
  ++state.steps;
  const auto steps = static_cast<double>(state.steps);
  at::Tensor out = to;
  at::Tensor spare = gradient;

  if (decay != 0 && !decoupled) spare.add_(from, decay);
  state.mean.mul_(beta1).add_(spare, 1 - beta1);
  state.square.mul_(beta2).addcmul_(spare, spare, 1 - beta2);
  at::sqrt_out(spare, state.square);
  spare.div_(std::sqrt(1 - std::pow(beta2, steps))).add_(epsilon);

  const double step_size = rate / (1 - std::pow(beta1, steps));
  const bool shrinks = decay != 0 && decoupled;
  if (shrinks) at::mul_out(out, from, at::scalar_tensor(1 - rate * decay));
  at::addcdiv_out(out, shrinks ? out : from, state.mean, spare, -step_size);
}

Adam::State& Adam::state_of(std::size_t parameter, const at::Tensor& weights) {
  State& state = states_[parameter];
  if (!state.mean.defined()) {
    state.mean = at::zeros_like(weights, {}, at::MemoryFormat::Contiguous);
    state.square = at::zeros_like(state.mean);
  }
  return state;
}

}  // namespace pipedream::train
