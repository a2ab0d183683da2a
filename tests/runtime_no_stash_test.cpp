// Shows why weight stashing is needed: without it, a gradient is not the gradient of any function.
#include <gtest/gtest.h>

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros_like.h>

#include "runtime_cases_testing.h"

namespace pipedream::test {
namespace {

// Three linear layers without bias in two stages: in ─▶ one ─▶ two │ three ─▶ loss.
model::Network chain() {
  using namespace model;
  const Init init{Init::Kind::kUniform, 1};
  NetworkBuilder net("chain", kBatch);
  Wire x = net.input("features", {kBatch, 3}, at::kFloat);
  for (const std::string name : {"one", "two", "three"})
    x = net.add(name, linear_without_bias(3, 3, init), {x});
  const Wire labels = net.input("labels", {kBatch}, at::kLong, 3);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

using Chain = std::map<std::string, at::Tensor>;  // weights by parameter name

at::Tensor loss_of(const Chain& weights, const at::Tensor& features, const at::Tensor& labels) {
  at::Tensor x = features;
  for (const std::string name : {"one.weight", "two.weight", "three.weight"})
    x = at::linear(x, weights.at(name));
  return at::cross_entropy_loss(x, labels);
}

class NoStash : public testing::Test {
 protected:
  // The weights after training on `minibatches` minibatches without momentum.
  [[nodiscard]] Chain after(std::int64_t minibatches, bool no_stash) const {
    model::Network network = chain();
    plan::Plan plan = cut_straight(network, "pipedream", 1);
    plan.stages.resize(2);
    plan.stages[1].workers = {WorkerId{1}};
    const auto layers = plan.stages[0].layers;
    plan.stages[0].layers = {layers[0], layers[1]};
    plan.stages[1].layers = {layers[2], layers[3]};
    set_depths(plan);
    const Case test(std::move(network), plan, {.minibatches = minibatches, .no_stash = no_stash});
    runtime::Job job = make_job(test.network, test.plan);
    job.make_optimiser = [] { return std::make_unique<MomentumSgd>(0); };
    const auto run = runtime::run_schedule(job, test.schedule, test.extent, test.feed);
    expect_as_scheduled(run, test.schedule, test.network, test.plan);
    return run.weights.parameters;
  }
  [[nodiscard]] static Chain initial() {
    const model::Network network = chain();
    Chain weights;
    for (const std::string name : {"one", "two", "three"})
      weights[name + ".weight"] =
          make_layer(network, network.graph.find(name).value(), kSeed, at::kCPU)
              ->parameters()[0]
              .detach();
    return weights;
  }
  [[nodiscard]] static at::Tensor input(std::size_t which, std::int64_t minibatch) {
    return model::sample_input(chain().inputs[which], kSeed, minibatch);
  }
  // The derivative of minibatch 1's loss with respect to the first layer's weights, by finite
  // differences in double precision.
  [[nodiscard]] static at::Tensor slope(Chain weights) {
    for (auto& [name, tensor] : weights) tensor = tensor.to(at::kDouble);
    const at::Tensor features = input(0, 1).to(at::kDouble);
    const at::Tensor labels = input(1, 1);
    constexpr double kStep = 1e-5;
    at::Tensor& tried = weights.at("one.weight");
    at::Tensor slope = at::zeros_like(tried);
    for (std::int64_t i = 0; i < tried.numel(); ++i) {
      at::Tensor entry = tried.view(-1)[i];
      const auto before = entry.item<double>();
      entry.fill_(before + kStep);
      const auto above = loss_of(weights, features, labels).item<double>();
      entry.fill_(before - kStep);
      const auto below = loss_of(weights, features, labels).item<double>();
      entry.fill_(before);
      slope.view(-1)[i].fill_((above - below) / (2 * kStep));
    }
    return slope;
  }
  [[nodiscard]] static double distance(const at::Tensor& one, const at::Tensor& other) {
    return (one.to(at::kDouble) - other).abs().max().item<double>();
  }
  // The gradient that minibatch 1 applied to the first layer. It is the second update of stage 0.
  [[nodiscard]] at::Tensor gradient(bool no_stash) const {
    const at::Tensor before = after(1, no_stash).at("one.weight");
    const at::Tensor behind = after(2, no_stash).at("one.weight");
    return (before - behind).to(at::kDouble) / kRate;
  }
};

// Stage 0 runs F0 F1 B0 U B1 U. So the forward of minibatch 1 uses version 0 in stage 0 and version
// 1 in stage 1.
TEST_F(NoStash, WithStashingTheGradientIsThatOfTheForwardsWeights) {
  Chain used = initial();
  used["three.weight"] = after(1, false).at("three.weight");
  EXPECT_LT(distance(gradient(false), slope(used)), 1e-5);

  model::use_threads(1);
  for (auto& [name, tensor] : used) tensor = tensor.clone().requires_grad_();
  loss_of(used, input(0, 1), input(1, 1)).backward();
  const Chain before = after(1, false);
  const Chain behind = after(2, false);
  for (const auto& [name, tensor] : used)
    EXPECT_TRUE(at::equal(behind.at(name), before.at(name).add(tensor.grad(), -kRate))) << name;
}

TEST_F(NoStash, WithoutStashingTheGradientIsThatOfNoWeights) {
  const Chain newest = after(1, true);
  Chain used = initial();
  used["three.weight"] = newest.at("three.weight");
  const at::Tensor found = gradient(true);
  std::printf("off by %g from the forward's weights, by %g from the backward's\n",
              distance(found, slope(used)), distance(found, slope(newest)));
  EXPECT_GT(distance(found, slope(used)), 1e-3);
  EXPECT_GT(distance(found, slope(newest)), 1e-3);
}

// Without stashing, the gradient mixes a forward with version 0 and a backward through version 1 of
// layer "two".
TEST_F(NoStash, WithoutStashingForwardAndBackwardUseDifferentWeights) {
  const Chain newest = after(1, true);
  const Chain old = initial();
  const at::Tensor features = input(0, 1);
  at::Tensor middle =
      at::linear(at::linear(features, old.at("one.weight")), old.at("two.weight")).requires_grad_();
  at::cross_entropy_loss(at::linear(middle, newest.at("three.weight")), input(1, 1)).backward();
  const at::Tensor mixture =
      middle.grad().matmul(newest.at("two.weight")).t().matmul(features).to(at::kDouble);
  EXPECT_LT(distance(gradient(true), mixture), 1e-5);
}

TEST_F(NoStash, OtherBitsThanWithStashing) {
  EXPECT_TRUE(are_same(after(1, false), after(1, true)));
  EXPECT_FALSE(are_same(after(2, false), after(2, true)));
}

TEST_F(NoStash, OneVersionIsAllThereIs) {
  for (const std::string name : {"mlp", "resnet"})
    for (const int stages : {2, 3, 4}) {
      model::Network network = small_network(name);
      plan::Plan plan = cut_straight(network, "pipedream", stages);
      const Case test(std::move(network), plan, {.minibatches = 20, .no_stash = true});
      const auto run = test.run();
      expect_as_scheduled(run, test.schedule, test.network, test.plan);
      for (int s = 0; s < stages; ++s) EXPECT_EQ(run.peaks({s}, {s}).versions, 1);
      EXPECT_FALSE(are_same(run.weights, test.trained_by(weight_stashing(stages))));
    }
}

}  // namespace
}  // namespace pipedream::test
