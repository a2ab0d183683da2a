#include "model/zoo.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <gtest/gtest.h>

#include <torch/csrc/autograd/autograd.h>

#include "core/error.h"
#include "core/testing.h"
#include "model/whole_model.h"

namespace pipedream::model {
namespace {

// Options that make every network small enough for a test. Only they differ from the defaults.
const std::map<std::string, std::map<std::string, std::string>> kSmall{
    {"vgg16", {{"image-size", "32"}, {"classes", "5"}, {"hidden", "64"}}},
    {"resnet50", {{"image-size", "32"}, {"classes", "5"}}},
    {"alexnet", {{"image-size", "64"}, {"classes", "5"}, {"hidden", "64"}}},
    {"gnmt8", {{"hidden", "24"}, {"vocabulary", "31"}, {"length", "6"}}},
    {"gnmt16", {{"hidden", "16"}, {"vocabulary", "31"}, {"length", "5"}}},
    {"awd-lm",
     {{"embedding", "48"},
      {"hidden", "64"},
      {"vocabulary", "31"},
      {"length", "6"},
      {"dropout", "0.1"},
      {"input-dropout", "0.1"},
      {"weight-drop", "0.2"}}},
    {"s2vt",
     {{"frames", "5"},
      {"features", "12"},
      {"hidden", "24"},
      {"embedding", "16"},
      {"vocabulary", "31"},
      {"length", "4"}}},
    {"gpt",
     {{"hidden", "32"}, {"layers", "3"}, {"heads", "4"}, {"vocabulary", "31"}, {"context", "8"}}},
    {"mlp", {{"inputs", "12"}, {"hidden", "16"}, {"classes", "5"}}}};

using Given = std::map<std::string, std::string>;

// The network with the options of kSmall, overridden by `other`.
Network small(const NetworkEntry& entry, std::int64_t batch = 4, Given other = {}) {
  other.insert(kSmall.at(entry.name).begin(), kSmall.at(entry.name).end());
  return entry.make(Options(entry.options, other), batch);
}

Network full(const std::string& name) {
  const NetworkEntry& entry = zoo_entry(name);
  return entry.make(Options(entry.options, {}), entry.batch);
}

TEST(Zoo, ParameterCountsAreThoseOfThePublishedNetworks) {
  EXPECT_EQ(parameter_count(full("vgg16")), 138'357'544);
  EXPECT_EQ(parameter_count(full("resnet50")), 25'557'032);
  EXPECT_EQ(parameter_count(full("alexnet")), 61'100'840);
}

// The sizes are those in the profile that PipeDream's authors published: the two embeddings have
// V·H weights each, the classifier V·H + V, an LSTM 4·H·(in + H + 2) for each direction.
TEST(Zoo, Gnmt8HasTheWeightsOfItsPublishedProfile) {
  const Network network = full("gnmt8");
  const auto bytes = [&](const char* layer) {
    return weight_bytes(network.spec(network.graph.find(layer).value())).count;
  };
  EXPECT_EQ(bytes("encoder.embedder"), 132'382'720);
  EXPECT_EQ(bytes("encoder.rnn_layers.0"), 67'174'400);
  EXPECT_EQ(bytes("decoder.embedder"), bytes("encoder.embedder"));
}

TEST(Zoo, GptWithItsDefaultsIsGpt2SmallPlusItsOwnOutputWeights) {
  EXPECT_EQ(parameter_count(full("gpt")), 124'439'808 + 50257 * 768);
}

// The embedding has V·E weights, an LSTM 4·out·(in + out + 2) and the decoder a bias of V; the
// decoder's matrix is the embedding's.
//   33278·400 + 4600·(400 + 1150 + 2) + 4600·(1150 + 1150 + 2) + 1600·(1150 + 400 + 2) + 33278
// = 13,311,200 + 7,139,200 + 10,589,200 + 2,483,200 + 33,278
TEST(Zoo, AwdLmCountsItsTiedWeightsOnce) {
  const Network network = full("awd-lm");
  EXPECT_EQ(parameter_count(network), 33'556'078);
  const auto bytes = [&](const char* layer) {
    return weight_bytes(network.spec(network.graph.find(layer).value())).count;
  };
  EXPECT_EQ(bytes("encoder"), 4 * 33278 * 400);
  EXPECT_EQ(bytes("decoder"), 4 * 33278);
}

// Frame embedding 4096·500 + 500, first LSTM 4000·(500 + 1000 + 2), word embedding 12594·500,
// second LSTM 4000·(1500 + 1000 + 2), output 12594·1000 + 12594:
//   2,048,500 + 6,008,000 + 6,297,000 + 10,008,000 + 12,606,594
TEST(Zoo, S2vtHasTheParametersOfItsDefaults) {
  EXPECT_EQ(parameter_count(full("s2vt")), 36'968'094);
}

TEST(Zoo, AnUnknownNameIsAnsweredWithTheNearest) {
  EXPECT_EQ(test::message_of<BadUsage>([] { (void)zoo_entry("vg16"); }),
            "there is no model 'vg16' (did you mean 'vgg16'?)");
}

TEST(Zoo, TheContextOfGnmtsAttentionReachesEveryDecoderLayerAbove) {
  const Network network = full("gnmt16");
  const graph::Layer& attention = network.graph.layer(*network.graph.find("decoder.att_rnn.attn"));
  EXPECT_EQ(network.graph.value(attention.outputs[0]).consumers.size(), 7u);
}

class EachNetwork : public testing::TestWithParam<NetworkEntry> {};

// A graph's shapes are declared without running a layer. This test compares them with what the
// layers compute.
TEST_P(EachNetwork, LayersComputeTheShapesThatTheGraphPromises) {
  const Network network = small(GetParam());
  WholeModel model(network, at::kCPU, 3);
  const Values values = model.forward(model.sample_inputs(0), 0);
  for (std::size_t v = 0; v < network.graph.values().size(); ++v) {
    const graph::Value& promised = network.graph.values()[v];
    const at::Tensor& computed = values.at(id_at<ValueId>(v));
    const std::string& name = network.graph.layer(promised.producer).name;
    EXPECT_EQ(computed.sizes().vec(), promised.shape) << name;
    EXPECT_EQ(static_cast<std::int64_t>(computed.nbytes()), promised.bytes.count) << name;
  }
  EXPECT_EQ(values.at(network.loss).dim(), 0);
}

TEST_P(EachNetwork, LearnsAMinibatchInAFewSteps) {
  const Network network = small(GetParam());
  WholeModel model(network, at::kCPU, 3);
  const Values inputs = model.sample_inputs(0);
  // Dropout draws a new mask in each step, so losses are compared without dropout.
  const auto loss = [&] {
    const at::NoGradGuard no_grad;
    const bool batch_norm = GetParam().name == "resnet50";  // its running averages lag behind
    return model.forward(inputs, 0, batch_norm).at(network.loss).item<double>();
  };
  const double enough = 0.8 * loss();
  // Adam's steps are equally large for small and large gradients, so one rate serves all networks.
  std::map<std::string, std::pair<at::Tensor, at::Tensor>> moments;
  for (std::int64_t step = 1; step <= 60; ++step) {
    if (step % 5 == 0 && loss() < enough) break;
    torch::autograd::backward({model.forward(inputs, step).at(network.loss)}, {});
    const at::NoGradGuard no_grad;
    for (auto& [name, parameter] : model.parameters()) {
      const at::Tensor& gradient = parameter.grad();
      ASSERT_TRUE(gradient.defined()) << name << " got no gradient";
      auto& [first, second] = moments[name];
      first = first.defined() ? first * 0.9 + gradient * 0.1 : gradient * 0.1;
      second =
          second.defined() ? second * 0.99 + gradient.square() * 0.01 : gradient.square() * 0.01;
      const double rate = 0.003 / (1 - std::pow(0.9, step));
      const double scale = 1 / (1 - std::pow(0.99, step));
      at::Tensor(parameter).sub_(first / ((second * scale).sqrt() + 1e-8), rate);
    }
    model.clear_gradients();
  }
  EXPECT_LT(loss(), enough);
}

TEST_P(EachNetwork, WeightsAndDropoutDependOnTheSeedAlone) {
  const Network network = small(GetParam());
  WholeModel one(network, at::kCPU, 3);
  WholeModel same(network, at::kCPU, 3);
  WholeModel other(network, at::kCPU, 4);
  const Values inputs = one.sample_inputs(0);
  const auto loss = [&](WholeModel& model, std::int64_t minibatch) {
    return model.forward(inputs, minibatch).at(network.loss).item<float>();
  };
  EXPECT_EQ(loss(one, 5), loss(same, 5));
  const bool has_dropout = std::any_of(GetParam().options.begin(), GetParam().options.end(),
                                       [](const OptionSpec& o) { return o.name == "dropout"; });
  EXPECT_EQ(loss(one, 5) != loss(same, 6), has_dropout) << "each minibatch draws anew";
  EXPECT_NE(loss(one, 5), loss(other, 5));
}

TEST_P(EachNetwork, ParameterNamesAreUnique) {
  const Network network = small(GetParam());
  std::size_t count = 0;
  for (const LayerSpec& spec : network.specs) count += spec.parameters.size();
  EXPECT_EQ(WholeModel(network, at::kCPU, 0).parameters().size(), count);
}

// Expects that `declared` computes the same as `other` on the inputs of `other`: the sizes of
// minibatches and sequences are taken from the inputs, not from the declaration.
void expect_runs_like(const Network& declared, const Network& other) {
  WholeModel model(declared, at::kCPU, 3);
  WholeModel wanted(other, at::kCPU, 3);
  const Values inputs = wanted.sample_inputs(0);
  const Values results = model.forward(inputs, 0);
  for (const auto& [value, tensor] : wanted.forward(inputs, 0))
    EXPECT_TRUE(at::equal(results.at(value), tensor))
        << declared.graph.layer(declared.graph.value(value).producer).name;
}

TEST_P(EachNetwork, RunsASmallerMinibatchThanDeclared) {
  expect_runs_like(small(GetParam(), 4), small(GetParam(), 3));
}

// Small values for the options that set the length of a sample; empty for networks without
// sequences.
Given shorter(const NetworkEntry& entry) {
  Given lengths;
  for (const OptionSpec& option : entry.options)
    if (option.name == "length" || option.name == "context" || option.name == "frames")
      lengths[option.name] = "3";
  return lengths;
}

std::vector<NetworkEntry> sequence_networks() {
  std::vector<NetworkEntry> entries;
  std::copy_if(zoo().begin(), zoo().end(), std::back_inserter(entries),
               [](const NetworkEntry& entry) { return !shorter(entry).empty(); });
  return entries;
}

class EachSequenceNetwork : public EachNetwork {};

TEST_P(EachSequenceNetwork, RunsShorterSamplesThanDeclared) {
  expect_runs_like(small(GetParam()), small(GetParam(), 4, shorter(GetParam())));
}

// GoogleTest allows only letters, digits and _ in the names of tests.
std::string test_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Zoo, EachNetwork, testing::ValuesIn(zoo()),
                         [](const auto& each) { return test_name(each.param.name); });
INSTANTIATE_TEST_SUITE_P(Zoo, EachSequenceNetwork, testing::ValuesIn(sequence_networks()),
                         [](const auto& each) { return test_name(each.param.name); });

}  // namespace
}  // namespace pipedream::model
