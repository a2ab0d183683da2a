#include "train/weight_average.h"

#include <algorithm>

#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/empty_like.h>

namespace pipedream::train {

using runtime::kAverage;
using runtime::OptimiserState;
using runtime::ParameterStep;

void WeightAverage::step_all(const std::vector<ParameterStep>& steps) {
  optimiser_->step_all(steps);
  std::vector<at::Tensor> averages;
  std::vector<at::Tensor> weights;
  for (const ParameterStep& step : steps) {
    at::Tensor& average = averages_[step.parameter];
    if (!average.defined()) {
      average = step.to.clone();
      continue;
    }
    averages.push_back(average);
    weights.push_back(step.to);
  }
  if (!averages.empty()) at::_foreach_lerp_(averages, weights, 1 - decay_);
}

std::vector<std::string> WeightAverage::state_names() const {
  std::vector<std::string> names = optimiser_->state_names();
  names.emplace_back(kAverage);
  std::sort(names.begin(), names.end());
  return names;
}

OptimiserState WeightAverage::state(std::size_t parameter) const {
  OptimiserState state = optimiser_->state(parameter);
  if (const auto found = averages_.find(parameter); found != averages_.end())
    state[kAverage] = found->second;
  return state;
}

void WeightAverage::set_state(std::size_t parameter, const OptimiserState& state,
                              const at::Tensor& weights) {
  if (state.empty()) return;
  OptimiserState inner = state;
  const auto average = inner.extract(kAverage);
  averages_[parameter] = at::empty_like(weights).copy_(average.mapped());  // with their strides
  optimiser_->set_state(parameter, inner, weights);
}

}  // namespace pipedream::train
