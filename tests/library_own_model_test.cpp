// A PyTorch model in a file, as a program that uses the library trains it.
#include <gtest/gtest.h>
#include <pipedream/pipedream.h>

#include <torch/torch.h>

#include "exported_models_testing.h"

namespace pipedream {
namespace {

using LibraryOwnModel = test::ExportedModels;

TEST_F(LibraryOwnModel, IsTrainedLikeOneThatWasBuilt) {
  const Network network = Network::load(file("perceptron.pt2"), /*batch=*/8);
  EXPECT_EQ(network.name(), "perceptron");
  EXPECT_EQ(network.parameter_count(), 6 * 8 + 8 + 8 * 8 + 8 + 8 * 5 + 5);
  const Plan two = plan(profile(network, {.seconds = 0.1}), 2, {.system = "gpipe"});
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({400, 6});
  const auto data = in_memory({{"input", x}, {"target", x.slice(1, 0, 5).argmax(1)}});
  const TrainOptions options{.epochs = 20};
  const Result result = train(network, two, {data}, options);
  EXPECT_LT(result.loss, 1.4);  // guessing: ln 5 = 1.6
  EXPECT_TRUE(result.weights.contains("0.weight"));

  // It begins with the weights of the file, or with others.
  const Weights start = network.initial_weights();
  EXPECT_TRUE(torch::equal(start.at("5.bias"), network.initial_weights(7).at("5.bias")));
  const Network other = network.with_weights({{"5.bias", torch::ones({5})}});
  EXPECT_TRUE(torch::equal(other.initial_weights().at("5.bias"), torch::ones({5})));
  EXPECT_TRUE(torch::equal(other.initial_weights().at("0.weight"), start.at("0.weight")));
  const Network again = other.with_weights(result.weights);
  for (const auto& [name, tensor] : again.initial_weights())
    EXPECT_TRUE(torch::equal(tensor, result.weights.at(name))) << name;
}

TEST_F(LibraryOwnModel, WeightsMayHaveBothNamesOfATiedTensor) {
  const Network gpt = Network::load(file("gpt.pt2"), 4, "language-model");
  const torch::Tensor words = torch::ones({50, 32});
  for (const std::string name : {"head.weight", "words.weight"}) {
    int found = 0;
    for (const auto& [known, tensor] : gpt.with_weights({{name, words}}).initial_weights())
      found += torch::equal(tensor, words) ? 1 : 0;
    EXPECT_EQ(found, 1) << name;
  }
  const auto give_both = [&](const torch::Tensor& head) {
    (void)gpt.with_weights({{"head.weight", head}, {"words.weight", words}});
  };
  EXPECT_NO_THROW(give_both(words));
  EXPECT_THROW(give_both(words + 1), BadUsage);
}

TEST_F(LibraryOwnModel, RefusesWhatDoesNotFit) {
  const auto perceptron = file("perceptron.pt2");
  EXPECT_THROW((void)Network::load(file("absent.pt2"), 8), IoError);
  EXPECT_THROW((void)Network::load(perceptron, 0), BadUsage);
  EXPECT_THROW((void)Network::load(perceptron, 8, "hinge"), BadUsage);
  EXPECT_THROW((void)Network::load(perceptron, 8, "none"), CannotMeet);
  EXPECT_THROW((void)Network::load(PD_SOURCE_DIR "/README.md", 8), BadFile);
}

}  // namespace
}  // namespace pipedream
