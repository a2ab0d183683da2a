#include "train/adam.h"

#include <cmath>

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/addcdiv.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros_like.h>

#include "train/fused_steps.h"

namespace pipedream::train {

using runtime::ParameterStep;

AdamOptions Adam::options_for(const ParameterStep& step) const {
  AdamOptions options = options_;
  options.learning_rate *= step.rate;
  if (!options.decays_vectors && step.from.dim() <= 1) options.weight_decay = 0;
  return options;
}

void Adam::step_all(const std::vector<ParameterStep>& steps) {
  if (options_.decays_vectors) return step_alike(steps);
  for (const std::vector<ParameterStep>& alike : by_decay(steps)) step_alike(alike);
}

// Runs the operations of torch::optim::Adam and AdamW in their order, so the bits are the same.
void Adam::step(const ParameterStep& step) {
  const auto [rate, beta1, beta2, epsilon, decay, decoupled, decays_vectors] = options_for(step);
  const at::Tensor& from = step.from;
  State& state = state_of(step.parameter, from);
  ++state.steps;
  state.count.reset();  // now out of date; step_all() makes it again from `steps`
  const auto steps = static_cast<double>(state.steps);
  at::Tensor out = step.to;
  at::Tensor spare = step.gradient;

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

// On a GPU a fused kernel updates all parameters, as in Sgd::step_all. The kernel reads the number
// of steps from GPU memory, so it is counted there too.
void Adam::step_alike(const std::vector<ParameterStep>& steps) {
  const FusedSteps fused(steps);
  if (!fused.is_possible()) return Optimiser::step_all(steps);
  const auto [rate, beta1, beta2, epsilon, decay, decoupled, decays_vectors] =
      options_for(steps.front());
  std::vector<at::Tensor> means, squares, counts;
  for (const ParameterStep& step : steps) {
    State& state = state_of(step.parameter, step.from);
    means.push_back(state.mean);
    squares.push_back(state.square);
    if (!state.count.defined())
      state.count = at::full({}, static_cast<double>(state.steps), step.to.options());
    ++state.steps;
    counts.push_back(state.count);
  }
  at::_foreach_add_(counts, 1);
  if (decoupled)
    at::_fused_adamw_(fused.weights(), fused.gradients(), means, squares, {}, counts, rate, beta1,
                      beta2, decay, epsilon, /*amsgrad=*/false, /*maximize=*/false);
  else
    at::_fused_adam_(fused.weights(), fused.gradients(), means, squares, {}, counts, rate, beta1,
                     beta2, decay, epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

std::vector<std::string> Adam::state_names() const { return {"exp_avg", "exp_avg_sq", "step"}; }

runtime::OptimiserState Adam::state(std::size_t parameter) const {
  const auto found = states_.find(parameter);
  if (found == states_.end()) return {};
  const State& state = found->second;
  return {{"exp_avg", state.mean},
          {"exp_avg_sq", state.square},
          {"step", at::scalar_tensor(state.steps, at::kLong)}};
}

void Adam::set_state(std::size_t parameter, const runtime::OptimiserState& state,
                     const at::Tensor& weights) {
  if (state.empty()) return;
  State& own = state_of(parameter, weights);
  own.mean.copy_(state.at("exp_avg"));
  own.square.copy_(state.at("exp_avg_sq"));
  own.steps = state.at("step").item<std::int64_t>();
  own.count.reset();
}

Adam::State& Adam::state_of(std::size_t parameter, const at::Tensor& weights) {
  State& state = states_[parameter];
  if (!state.mean.defined()) {
    state.mean = at::zeros_like(weights, {}, at::MemoryFormat::Preserve);
    state.square = at::zeros_like(state.mean);
  }
  return state;
}

}  // namespace pipedream::train
