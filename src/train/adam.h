// Adam (Kingma & Ba 2015) and AdamW (Loshchilov & Hutter 2019), by the formulas of torch.optim.
#pragma once

#include <cstdint>
#include <map>

#include "runtime/optimiser.h"

namespace pipedream::train {

struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  // True for AdamW: weight decay shrinks the weights directly instead of adding to the gradient.
  bool decoupled = false;
  bool decays_vectors = true;  // whether parameters of fewer than two dimensions decay too
};

// One object per stage and worker, or per parameter server; not thread-safe.
// At step t:  g ← g + weight_decay·w  (Adam)  or  w ← w·(1 − learning_rate·weight_decay)  (AdamW)
//   m ← β1·m + (1 − β1)·g,   s ← β2·s + (1 − β2)·g²
//   w ← w − learning_rate/(1 − β1^t) · m / (√s / √(1 − β2^t) + ε)
class Adam final : public runtime::Optimiser {
 public:
  explicit Adam(AdamOptions options) : options_(options) {}
  // Writes intermediate results over `step.gradient` instead of allocating memory for them.
  void step(const runtime::ParameterStep& step) override;
  void step_all(const std::vector<runtime::ParameterStep>& steps) override;
  // "exp_avg" (m), "exp_avg_sq" (s) and "step" (t), as torch.optim calls them.
  std::vector<std::string> state_names() const override;
  runtime::OptimiserState state(std::size_t parameter) const override;
  void set_state(std::size_t parameter, const runtime::OptimiserState& state,
                 const at::Tensor& weights) override;

 private:
  struct State {
    std::int64_t steps = 0;
    at::Tensor count;   // `steps` as a scalar on the GPU, for the fused kernel; else undefined
    at::Tensor mean;    // m
    at::Tensor square;  // s
  };
  // Executes steps that have the same weight decay.
  void step_alike(const std::vector<runtime::ParameterStep>& steps);
  // The options for this step: with its learning rate and its weight decay.
  [[nodiscard]] AdamOptions options_for(const runtime::ParameterStep& step) const;
  [[nodiscard]] State& state_of(std::size_t parameter, const at::Tensor& weights);

  AdamOptions options_;
  std::map<std::size_t, State> states_;
};

}  // namespace pipedream::train
