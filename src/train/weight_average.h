// The exponential moving average of the weights (EMA), kept beside any optimiser
// (docs/training.md: Averages of weights).
#pragma once

#include <map>
#include <memory>

#include "runtime/optimiser.h"

namespace pipedream::train {

// Runs another optimiser and keeps the average of the weights that it makes, as
// torch.optim.swa_utils does with get_ema_multi_avg_fn(decay). After the first update of a
// parameter the average is the new weights w; after each further one
//   average ← decay · average + (1 − decay) · w
// One object per stage and worker; not thread-safe. The average is state of the optimiser, named
// runtime::kAverage, so checkpoints have it.
class WeightAverage final : public runtime::Optimiser {
 public:
  // Requires 0 ≤ decay < 1.
  WeightAverage(std::unique_ptr<runtime::Optimiser> optimiser, double decay)
      : optimiser_(std::move(optimiser)), decay_(decay) {}

  bool divides() const override { return optimiser_->divides(); }
  void step(const runtime::ParameterStep& step) override { step_all({step}); }
  void step_all(const std::vector<runtime::ParameterStep>& steps) override;
  std::vector<std::string> state_names() const override;
  runtime::OptimiserState state(std::size_t parameter) const override;
  void set_state(std::size_t parameter, const runtime::OptimiserState& state,
                 const at::Tensor& weights) override;

 private:
  std::unique_ptr<runtime::Optimiser> optimiser_;
  double decay_;
  std::map<std::size_t, at::Tensor> averages_;
};

}  // namespace pipedream::train
