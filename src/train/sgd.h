// Stochastic gradient descent with momentum, by the formula of torch.optim.SGD.
#pragma once

#include <map>

#include "runtime/optimiser.h"

namespace pipedream::train {

struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0;
  double weight_decay = 0;
  bool decays_vectors = true;  // whether parameters of fewer than two dimensions decay too
};

// One object per stage and worker, or per parameter server; not thread-safe.
// g ← g + weight_decay·w, v ← momentum·v + g (v = g at the first step), w ← w − learning_rate·v.
class Sgd final : public runtime::Optimiser {
 public:
  explicit Sgd(SgdOptions options) : options_(options) {}
  bool divides() const override { return true; }
  void step(const runtime::ParameterStep& step) override;
  void step_all(const std::vector<runtime::ParameterStep>& steps) override;
  // "momentum", unless momentum is 0.
  std::vector<std::string> state_names() const override;
  runtime::OptimiserState state(std::size_t parameter) const override;
  void set_state(std::size_t parameter, const runtime::OptimiserState& state,
                 const at::Tensor& weights) override;

 private:
  // Executes steps that have the same weight decay.
  void step_alike(const std::vector<runtime::ParameterStep>& steps);
  [[nodiscard]] double decay_of(const runtime::ParameterStep& step) const {
    return options_.decays_vectors || step.from.dim() > 1 ? options_.weight_decay : 0;
  }
  // The momentum buffer of a parameter, created on first use; undefined if momentum is 0.
  [[nodiscard]] at::Tensor velocity_of(std::size_t parameter, const at::Tensor& weights);
  // The step as separate tensor operations. Used where sgd_pass() cannot be: for tensors that are
  // not contiguous floats on the CPU, and on machines without fused multiply-add.
  void step_by_operations(const runtime::ParameterStep& step, at::Tensor velocity) const;

  SgdOptions options_;
  std::map<std::size_t, at::Tensor> velocity_;  // momentum buffers by parameter
};

}  // namespace pipedream::train
