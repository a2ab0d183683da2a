#include "train/sgd.h"

#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/add.h>
#include <ATen/ops/full_like.h>

#include "train/fused_steps.h"
#include "train/sgd_pass.h"

namespace pipedream::train {

using runtime::ParameterStep;

namespace {

bool is_plain(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.scalar_type() == at::kFloat && tensor.is_contiguous();
}

void divide(const ParameterStep& step) {
  if (step.divisor != 1) step.gradient.div_(step.divisor);
}

}  // namespace

void Sgd::step(const ParameterStep& step) {
  const at::Tensor velocity = velocity_of(step.parameter, step.from);
  const bool plain = is_plain(step.from) && is_plain(step.gradient) && is_plain(step.to);
  if (!plain || !can_sgd_pass()) return step_by_operations(step, velocity);
  sgd_pass({.learning_rate = static_cast<float>(options_.learning_rate * step.rate),
            .momentum = static_cast<float>(options_.momentum),
            .weight_decay = static_cast<float>(decay_of(step)),
            .divisor = static_cast<float>(step.divisor)},
           {.from = step.from.const_data_ptr<float>(),
            .gradient = step.gradient.const_data_ptr<float>(),
            .velocity = velocity.defined() ? velocity.mutable_data_ptr<float>() : nullptr,
            .to = step.to.mutable_data_ptr<float>(),
            .count = static_cast<std::size_t>(step.from.numel())});
}

void Sgd::step_all(const std::vector<ParameterStep>& steps) {
  if (options_.decays_vectors) return step_alike(steps);
  for (const std::vector<ParameterStep>& alike : by_decay(steps)) step_alike(alike);
}

// On a GPU hundreds of small kernels would take longer to launch than to run, so a fused kernel
// updates all parameters. It cannot divide gradients, so that is done before.
void Sgd::step_alike(const std::vector<ParameterStep>& steps) {
  const FusedSteps fused(steps);
  if (!fused.is_possible()) return Optimiser::step_all(steps);
  for (const ParameterStep& step : steps) divide(step);
  std::vector<at::Tensor> velocities;
  if (options_.momentum != 0)
    for (const ParameterStep& step : steps)
      velocities.push_back(velocity_of(step.parameter, step.from));
  at::_fused_sgd_(fused.weights(), fused.gradients(), velocities, decay_of(steps.front()),
                  options_.momentum, options_.learning_rate * steps.front().rate, /*dampening=*/0,
                  /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false);
}

at::Tensor Sgd::velocity_of(std::size_t parameter, const at::Tensor& weights) {
  if (options_.momentum == 0) return {};
  at::Tensor& velocity = velocity_[parameter];
  // The first step must give v = g. −0 + g is g for every g, also for zeros of either sign, so a
  // velocity of −0 makes the first step like all others.
  if (!velocity.defined()) velocity = at::full_like(weights, -0.0, {}, at::MemoryFormat::Preserve);
  return velocity;
}

std::vector<std::string> Sgd::state_names() const {
  return options_.momentum == 0 ? std::vector<std::string>{} : std::vector<std::string>{"momentum"};
}

runtime::OptimiserState Sgd::state(std::size_t parameter) const {
  const auto found = velocity_.find(parameter);
  if (found == velocity_.end()) return {};
  return {{"momentum", found->second}};
}

void Sgd::set_state(std::size_t parameter, const runtime::OptimiserState& state,
                    const at::Tensor& weights) {
  if (options_.momentum == 0 || state.empty()) return;
  velocity_of(parameter, weights).copy_(state.at("momentum"));
}

void Sgd::step_by_operations(const ParameterStep& step, at::Tensor velocity) const {
  divide(step);
  at::Tensor slope = step.gradient;
  if (const double decay = decay_of(step); decay != 0) slope = step.gradient.add(step.from, decay);
  if (velocity.defined()) slope = velocity.mul_(options_.momentum).add_(slope);
  at::Tensor out = step.to;
  at::add_out(out, step.from, slope, -options_.learning_rate * step.rate);
}

}  // namespace pipedream::train
