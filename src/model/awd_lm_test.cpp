// What is particular to the AWD language model: its four kinds of dropout and its tied weights.
#include <gtest/gtest.h>

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include "model/whole_model.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

using Given = std::map<std::string, std::string>;
const Given kNoDropout{
    {"dropout", "0"}, {"input-dropout", "0"}, {"embedding-dropout", "0"}, {"weight-drop", "0"}};

Network awd_lm(Given given) {
  const NetworkEntry& entry = zoo_entry("awd-lm");
  given.merge(Given{{"embedding", "16"}, {"hidden", "24"}, {"vocabulary", "31"}, {"length", "6"}});
  return entry.make(Options(entry.options, given), 4);
}

// Runs the layer `name` of a model alone, and returns its first output.
at::Tensor run(WholeModel& model, const char* name, const at::Tensor& x, std::int64_t minibatch,
               bool training = true) {
  const LayerId id = model.network().graph.find(name).value();
  return model.layer(id).forward({x}, model.pass(id, minibatch, training)).at(0);
}

at::Tensor input(const WholeModel& model, const char* name, const Values& values) {
  const graph::Graph& graph = model.network().graph;
  return values.at(graph.layer(graph.find(name).value()).outputs[0]);
}

double zero_share(const at::Tensor& x) { return (x == 0).to(at::kDouble).mean().item<double>(); }

TEST(AwdLm, WithoutDropoutIsAnEmbeddingThreeLstmsAndADecoder) {
  const Network network = awd_lm(kNoDropout);
  WholeModel model(network, at::kCPU, 3);
  const Values values = model.forward(model.sample_inputs(0), 0);
  const auto w = model.parameters();

  at::Tensor x = at::embedding(w.at("encoder.weight"), input(model, "tokens", values));
  for (const char* const name : {"rnns.0.module.", "rnns.1.module.", "rnns.2.module."}) {
    const std::string rnn = name;
    const at::Tensor recurrent = w.at(rnn + "weight_hh_l0_raw");
    const at::Tensor state = at::zeros({1, 4, recurrent.size(1)});
    x = std::get<0>(at::lstm(
        x, {state, state},
        {w.at(rnn + "weight_ih_l0"), recurrent, w.at(rnn + "bias_ih_l0"), w.at(rnn + "bias_hh_l0")},
        true, 1, 0, false, false, true));
  }
  x = at::linear(x, w.at("encoder.weight"), w.at("decoder.bias"));
  const at::Tensor loss =
      at::cross_entropy_loss(x.view({4 * 6, 31}), input(model, "labels", values).view({4 * 6}));
  EXPECT_TRUE(at::allclose(values.at(network.loss), loss, 1e-6, 0));

  // Embedding and decoder use one parameter, encoder.weight, as in the authors' code. Its gradient
  // is the sum over both uses.
  const at::Tensor whole = torch::autograd::grad({loss}, {w.at("encoder.weight")})[0];
  torch::autograd::backward({values.at(network.loss)}, {});
  EXPECT_TRUE(at::allclose(w.at("encoder.weight").grad(), whole, 1e-5, 1e-7));
  EXPECT_FALSE(w.contains("decoder.weight"));
}

// The gradient of the recurrent weights. It is exactly zero for a dropped weight, so it shows the
// mask.
at::Tensor recurrent_gradient(WholeModel& model, std::int64_t minibatch, bool training = true) {
  model.clear_gradients();
  run(model, "rnns.1", at::ones({4, 6, 24}), minibatch, training).sum().backward();
  return model.parameters().at("rnns.1.module.weight_hh_l0_raw").grad().clone();
}

TEST(AwdLm, WeightDropLeavesOutAShareOfTheRecurrentWeightsAnewInEachPass) {
  const Network network = awd_lm({{"weight-drop", "0.3"}});
  WholeModel model(network, at::kCPU, 3);
  const at::Tensor gradient = recurrent_gradient(model, 5);
  EXPECT_NEAR(zero_share(gradient), 0.3, 0.04);
  EXPECT_TRUE(at::equal(gradient, recurrent_gradient(model, 5)));
  const at::Tensor other = recurrent_gradient(model, 6);
  EXPECT_NEAR(zero_share(gradient + other), 0.3 * 0.3, 0.03) << "masks must be independent";
  EXPECT_EQ(zero_share(recurrent_gradient(model, 5, /*training=*/false)), 0);
}

TEST(AwdLm, LockedDropoutHasOneMaskPerSampleForAllTimeSteps) {
  const Network network = awd_lm({{"input-dropout", "0.4"}});
  WholeModel model(network, at::kCPU, 3);
  const at::Tensor x = at::ones({100, 6, 16});
  const at::Tensor out = run(model, "rnns.0.dropout", x, 0);
  EXPECT_TRUE(at::equal(out, out.narrow(1, 0, 1).expand_as(out)));
  EXPECT_FALSE(at::equal(out[0], out[1]));
  EXPECT_NEAR(zero_share(out), 0.4, 0.04);
  EXPECT_NEAR(out.max().item<double>(), 1 / 0.6, 1e-6);
  EXPECT_TRUE(at::equal(run(model, "rnns.0.dropout", x, 0, /*training=*/false), x));
}

TEST(AwdLm, EmbeddingDropoutDropsAWordWhereverItStands) {
  const Network network = awd_lm({{"embedding-dropout", "0.3"}, {"vocabulary", "1000"}});
  WholeModel model(network, at::kCPU, 3);
  const at::Tensor words = at::arange(1000, at::kLong).view({10, 100});
  const at::Tensor out = run(model, "encoder", words, 0).view({1000, 16});
  const at::Tensor dropped = (out == 0).all(1);
  EXPECT_NEAR(dropped.to(at::kDouble).mean().item<double>(), 0.3, 0.05);
  EXPECT_EQ(zero_share(out), dropped.to(at::kDouble).mean().item<double>());
  const at::Tensor turned = run(model, "encoder", words.flip(1), 0).flip(1).view({1000, 16});
  EXPECT_TRUE(at::equal(out, turned));
}

}  // namespace
}  // namespace pipedream::model
