#include "train/fused_steps.h"

#include <algorithm>

#include <ATen/ops/_foreach_copy.h>

namespace pipedream::train {

using runtime::ParameterStep;

FusedSteps::FusedSteps(const std::vector<ParameterStep>& steps) {
  possible_ = !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const auto& step) {
    return step.to.is_cuda() && step.to.scalar_type() == at::kFloat &&
           step.gradient.scalar_type() == at::kFloat &&
           step.gradient.strides() == step.to.strides();
  });
  if (!possible_) return;
  std::vector<at::Tensor> from, to;
  for (const ParameterStep& step : steps) {
    weights_.push_back(step.to);
    gradients_.push_back(step.gradient);
    if (step.from.const_data_ptr() == step.to.const_data_ptr()) continue;
    from.push_back(step.from);
    to.push_back(step.to);
  }
  if (!to.empty()) at::_foreach_copy_(to, from);
}

std::array<std::vector<ParameterStep>, 2> by_decay(const std::vector<ParameterStep>& steps) {
  std::array<std::vector<ParameterStep>, 2> groups;
  for (const ParameterStep& step : steps) groups[step.from.dim() > 1 ? 0 : 1].push_back(step);
  return groups;
}

}  // namespace pipedream::train
