#include "model/ties.h"

#include <gtest/gtest.h>

#include <torch/csrc/autograd/autograd.h>

#include "core/error.h"
#include "core/testing.h"
#include "model/blocks.h"
#include "model/whole_model.h"

namespace pipedream::model {
namespace {

Block tied_linear(std::int64_t in, std::int64_t out, std::string owner) {
  Block block = linear(in, out);
  block.parameters[0].tied_to = std::move(owner);
  return block;
}

// Three linear layers of the same width share one weight matrix, and each has its own bias.
Network three_uses() {
  NetworkBuilder net("three", 2);
  Wire x = net.input("x", {2, 4}, at::kFloat);
  x = net.add("a", linear(4, 4), {x});
  x = net.add("b", tied_linear(4, 4, "a.weight"), {x});
  x = net.add("c", tied_linear(4, 4, "a.weight"), {x});
  const Wire labels = net.input("labels", {2}, at::kLong, 4);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

TEST(Ties, ListTheirUsesInLayerOrderTheOwnerFirst) {
  const std::vector<Tie> ties = ties_of(three_uses());
  ASSERT_EQ(ties.size(), 1u);
  EXPECT_EQ(ties[0].name, "a.weight");
  const std::vector<Use> uses{{LayerId{1}, 0}, {LayerId{2}, 0}, {LayerId{3}, 0}};
  EXPECT_EQ(ties[0].uses, uses);
}

TEST(Ties, AreCountedOnceAndStoredWhereTheyLie) {
  const Network network = three_uses();
  EXPECT_EQ(parameter_count(network), 4 * 4 + 3 * 4);
  EXPECT_EQ(weight_bytes(network.specs[2]).count, 4 * (4 * 4 + 4));
}

TEST(Ties, CopiesBeginEqualAndAreLeavesOfTheirOwn) {
  const Network network = three_uses();
  const auto parameters = WholeModel(network, at::kCPU, 7).parameters();
  const at::Tensor& a = parameters.at("a.weight");
  const at::Tensor& b = parameters.at("b.weight");
  EXPECT_TRUE(at::equal(a, b));
  EXPECT_TRUE(at::equal(a, parameters.at("c.weight")));
  EXPECT_NE(a.data_ptr(), b.data_ptr());
  EXPECT_FALSE(at::equal(parameters.at("a.bias"), parameters.at("b.bias")));
}

TEST(Ties, GradientsOfAllUsesAreSummedInLayerOrder) {
  const Network network = three_uses();
  WholeModel model(network, at::kCPU, 7);
  torch::autograd::backward({model.forward(model.sample_inputs(0), 0).at(network.loss)}, {});
  const auto gradient = [&](const char* name) { return model.parameters().at(name).grad(); };
  const at::Tensor sum = gradient("a.weight") + gradient("b.weight") + gradient("c.weight");
  const at::Tensor bias = gradient("b.bias").clone();
  model.sum_tied_gradients();
  for (const char* name : {"a.weight", "b.weight", "c.weight"})
    EXPECT_TRUE(at::equal(gradient(name), sum)) << name;
  EXPECT_TRUE(at::equal(gradient("b.bias"), bias)) << "only tied parameters are summed";
  EXPECT_NE(gradient("a.weight").data_ptr(), gradient("b.weight").data_ptr());
}

TEST(Ties, CopiesStayEqualWhenEachTakesTheSameStep) {
  const Network network = three_uses();
  WholeModel model(network, at::kCPU, 7);
  const auto parameters = model.parameters();
  for (std::int64_t step = 0; step < 3; ++step) {
    torch::autograd::backward({model.forward(model.sample_inputs(step), step).at(network.loss)},
                              {});
    model.sum_tied_gradients();
    const at::NoGradGuard no_grad;
    for (const auto& [name, parameter] : parameters) parameter.sub_(parameter.grad(), 0.1);
    model.clear_gradients();
  }
  EXPECT_TRUE(at::equal(parameters.at("a.weight"), parameters.at("b.weight")));
  EXPECT_TRUE(at::equal(parameters.at("a.weight"), parameters.at("c.weight")));
}

TEST(Ties, GradientsThatDoNotExistAreLeftAlone) {
  const Network network = three_uses();
  WholeModel model(network, at::kCPU, 7);
  model.sum_tied_gradients();
  EXPECT_FALSE(model.parameters().at("a.weight").grad().defined());
}

std::string refusal(Block second, Block third) {
  return test::message_of<BadValue>([&] {
    NetworkBuilder net("bad", 2);
    Wire x = net.input("x", {2, 4}, at::kFloat);
    x = net.add("a", linear(4, 4), {x});
    x = net.add("b", std::move(second), {x});
    x = net.add("c", std::move(third), {x});
  });
}

TEST(Ties, NeedAnOwnerOfTheSameKindInAnEarlierLayer) {
  EXPECT_EQ(refusal(tied_linear(4, 4, "c.weight"), linear(4, 4)),
            "parameter 'b.weight' is tied to 'c.weight', which no earlier layer has");
  EXPECT_EQ(refusal(tied_linear(4, 4, "b.weight"), linear(4, 4)),
            "parameter 'b.weight' is tied to 'b.weight', which no earlier layer has");
  EXPECT_EQ(refusal(tied_linear(4, 5, "a.weight"), linear(5, 4)),
            "parameter 'b.weight' is tied to 'a.weight', which has another shape or type");
  EXPECT_EQ(refusal(tied_linear(4, 4, "a.weight"), tied_linear(4, 4, "b.weight")),
            "parameter 'c.weight' is tied to 'b.weight', which is itself tied: name 'a.weight' "
            "instead");
}

}  // namespace
}  // namespace pipedream::model
