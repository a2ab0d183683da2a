// Exported PyTorch models follow the update rule of each system bit for bit, and their dropout
// takes its random numbers from the counter-based generator.
#include <gtest/gtest.h>

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "exported_models_testing.h"
#include "imported/network.h"
#include "model/random.h"
#include "runtime_cases_testing.h"

namespace pipedream::test {
namespace {

constexpr std::int64_t kMinibatches = 12;

class ImportedRules : public ExportedModels {
 protected:
  static model::Network network(const std::string& name) {
    const imported::Model model(file(name + ".pt2"));
    return model.network(model.default_loss(), kBatch);
  }
  static Case case_of(const std::string& name, const std::string& system,
                      const std::vector<int>& replicas, int microbatches = 1) {
    model::Network made = network(name);
    plan::Plan plan = cut_in_order(made, system, replicas);
    plan.microbatches = microbatches;
    return {std::move(made), std::move(plan), {.minibatches = kMinibatches}};
  }
};

TEST_F(ImportedRules, HoldWithAndWithoutStaleWeights) {
  for (const std::string name : {"gpt", "lstm", "transformer"}) {
    SCOPED_TRACE(name);
    expect_rule(case_of(name, "pipedream", {1, 1, 1}), weight_stashing(3));
    expect_rule(case_of(name, "2bw", {1, 1, 1}, 4), one_update_behind());
    expect_rule(case_of(name, "2bw", {2, 2}, 4), one_update_behind(2));
    expect_rule(case_of(name, "gpipe", {1, 1}, 2), newest_weights());
    expect_rule(case_of(name, "dapple", {1, 1}, 2), newest_weights());
    for (const std::vector<int>& replicas : {std::vector{2, 1}, {1, 2}, {2, 2}}) {
      const Case test = case_of(name, "pipedream", replicas);
      (void)expect_bits(test, round_robin(test.plan));
    }
  }
}

// The layer of a network that is called `name`.
LayerId layer_named(const model::Network& network, const std::string& name) {
  for (const LayerId layer : network.graph.order())
    if (network.graph.layer(layer).name == name) return layer;
  ADD_FAILURE() << "there is no layer " << name;
  return LayerId{0};
}

// The perceptron in plain libtorch code, with the masks that the generator gives.
class Perceptron {
 public:
  explicit Perceptron(const model::Network& network) : network_(network) {
    for (const std::string linear : {"0", "3", "5"}) {
      const auto layer = model::make_layer(network, layer_named(network, linear), kSeed, at::kCPU);
      for (const at::Tensor& each : layer->parameters()) weights_.push_back(each);
    }
    velocities_.resize(weights_.size());
  }

  double train(std::int64_t minibatch) {
    const at::Tensor x = model::sample_input(network_.inputs[0], kSeed, minibatch);
    const at::Tensor target = model::sample_input(network_.inputs[1], kSeed, minibatch);
    at::Tensor h = at::relu(at::linear(x, weights_[0], weights_[1]));
    h = at::linear(h * kept("2", h, 0.4, minibatch), weights_[2], weights_[3]);
    h = at::linear(h * kept("4", h, 0.25, minibatch), weights_[4], weights_[5]);
    const at::Tensor loss = at::cross_entropy_loss(h, target);
    loss.backward();
    const at::NoGradGuard no_gradient;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      weights_[i].copy_(sgd_step(weights_[i], weights_[i].grad(), velocities_[i]));
      weights_[i].mutable_grad().reset();
    }
    return loss.item<double>();
  }
  [[nodiscard]] const model::Tensors& weights() const { return weights_; }

 private:
  [[nodiscard]] at::Tensor kept(const std::string& layer, const at::Tensor& x, double p,
                                std::int64_t minibatch) const {
    model::Pass pass;
    pass.random = {
        .seed = kSeed, .layer = layer_named(network_, layer).value, .minibatch = minibatch};
    return model::drop_scale(x.sizes(), p, pass, x);
  }

  const model::Network& network_;
  model::Tensors weights_;
  model::Tensors velocities_;
};

TEST_F(ImportedRules, DropoutTakesItsNumbersFromTheGenerator) {
  for (const std::vector<int>& replicas : {std::vector{1}, {1, 1}, {1, 1, 1}}) {
    const Case test = case_of("perceptron", "mp", replicas);
    const runtime::TestRun run = test.run();
    Perceptron plain(test.network);
    for (std::int64_t t = 0; t < kMinibatches; ++t)
      EXPECT_DOUBLE_EQ(run.losses.at(t), plain.train(t)) << "minibatch " << t;
    const auto& found = run.weights.parameters;
    const std::vector<std::string> names{"0.weight", "0.bias",   "3.weight",
                                         "3.bias",   "5.weight", "5.bias"};
    ASSERT_EQ(found.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
      EXPECT_TRUE(at::equal(found.at(names[i]), plain.weights()[i])) << names[i];
  }
}

}  // namespace
}  // namespace pipedream::test
