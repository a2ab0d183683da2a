// A PyTorch model in a file, as a program that uses the library trains it.
#include <cstdlib>

#include <gtest/gtest.h>
#include <pipedream/pipedream.h>
#include <sys/wait.h>

#include <torch/torch.h>

#include "core/testing.h"

namespace pipedream {
namespace {

constexpr int kNotInstalled = 77;

class LibraryOwnModel : public testing::Test {
 protected:
  void SetUp() override {
    const std::string command = std::string(PD_PYTHON) +
                                " -W ignore '" PD_SOURCE_DIR
                                "/tests/reference/export_with_dropout.py' '" +
                                folder_.path().string() + "'";
    const int status = WEXITSTATUS(std::system(command.c_str()));
    if (status == kNotInstalled) GTEST_SKIP() << "torch is not installed for " << PD_PYTHON;
    ASSERT_EQ(status, 0) << command;
  }
  test::TemporaryFolder folder_;
};

TEST_F(LibraryOwnModel, IsTrainedLikeOneThatWasBuilt) {
  const Network network = Network::load(folder_.path() / "perceptron.pt2", /*batch=*/8);
  EXPECT_EQ(network.name(), "perceptron");
  EXPECT_EQ(network.parameter_count(), 6 * 8 + 8 + 8 * 8 + 8 + 8 * 5 + 5);
  const Plan two = plan(profile(network, {.seconds = 0.1}), 2, {.system = "gpipe"});
  const torch::Tensor x = torch::randn({400, 6});
  const auto data = in_memory({{"x", x}, {"target", x.slice(1, 0, 5).argmax(1)}});
  const TrainOptions options{.epochs = 10};
  const Result result = train(network, two, {data}, options);
  EXPECT_LT(result.loss, 1.2);  // guessing: ln 5 = 1.6
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
  const Network gpt = Network::load(folder_.path() / "gpt.pt2", 4, "language-model");
  const torch::Tensor words = torch::ones({50, 32});
  const Weights start = gpt.with_weights({{"head.weight", words}}).initial_weights();
  EXPECT_TRUE(torch::equal(start.at("words.weight"), words));
}

TEST_F(LibraryOwnModel, RefusesWhatDoesNotFit) {
  const auto file = folder_.path() / "perceptron.pt2";
  EXPECT_THROW((void)Network::load(folder_.path() / "absent.pt2", 8), IoError);
  EXPECT_THROW((void)Network::load(file, 0), BadUsage);
  EXPECT_THROW((void)Network::load(file, 8, "hinge"), BadUsage);
  EXPECT_THROW((void)Network::load(file, 8, "none"), CannotMeet);
  EXPECT_THROW((void)Network::load(PD_SOURCE_DIR "/README.md", 8), BadFile);
}

}  // namespace
}  // namespace pipedream
