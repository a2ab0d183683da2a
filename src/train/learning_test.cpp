// Networks of each kind learn the synthetic data within a few dozen minibatches.
#include <numeric>

#include <gtest/gtest.h>

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "data/batches.h"
#include "data/networks_testing.h"
#include "data/synthetic.h"
#include "model/blocks.h"
#include "model/whole_model.h"
#include "train/optimiser_options.h"

namespace pipedream::train {
namespace {

constexpr std::uint64_t kSeed = 1;

// Trains a whole network in a plain loop, without a pipeline.
class Learner {
 public:
  Learner(const model::Network& network, const OptimiserOptions& options)
      : network_(network),
        model_(network, at::kCPU, kSeed),
        data_(data::open_synthetic(network, kSeed)),
        optimiser_(make_optimiser(options)) {}

  void train(std::int64_t minibatches) {
    const data::Batches batches(data_.training->samples(), network_.batch, kSeed, true);
    for (std::int64_t minibatch = 0; minibatch < minibatches; ++minibatch) {
      torch::autograd::backward(
          {loss(*data_.training, batches.samples_of(minibatch), minibatch, true)}, {});
      const at::NoGradGuard no_grad;
      std::size_t number = 0;
      for (const auto& [name, parameter] : model_.parameters()) {
        const at::Tensor weights = parameter.detach();
        optimiser_->step({number++, weights, parameter.grad(), weights});
      }
      model_.clear_gradients();
    }
  }

  [[nodiscard]] double held_out_loss() {
    const at::NoGradGuard no_grad;
    std::vector<std::int64_t> samples(64);
    std::iota(samples.begin(), samples.end(), 0);
    return loss(*data_.held_out, samples, 0, false).item<double>();
  }

 private:
  [[nodiscard]] at::Tensor loss(const data::DataSet& set, const std::vector<std::int64_t>& samples,
                                std::int64_t minibatch, bool training) {
    model::Values inputs;
    for (const model::InputSpec& input : network_.inputs)
      inputs[network_.graph.layer(input.layer).outputs[0]] = set.load(input, samples);
    return model_.forward(std::move(inputs), minibatch, training).at(network_.loss);
  }

  const model::Network& network_;
  model::WholeModel model_;
  data::Data data_;
  std::unique_ptr<runtime::Optimiser> optimiser_;
};

// A small network in the style of VGG: convolutions and poolings, then a linear layer.
model::Network tiny_vgg() {
  constexpr std::int64_t kBatch = 32;
  constexpr std::int64_t kClasses = 10;
  model::NetworkBuilder net("tiny vgg", kBatch);
  model::Wire x = net.input("image", {kBatch, 3, 32, 32}, at::kFloat);
  std::int64_t channels = 3;
  for (const std::int64_t width : {8, 16}) {
    const std::string number = std::to_string(width);
    const model::Conv conv{
        .in = channels, .out = width, .kernel = 3, .padding = 1, .he_init = true};
    x = net.add("conv" + number, model::conv2d(conv), {x});
    x = net.add("relu" + number, model::relu(), {x});
    x = net.add("pool" + number, model::max_pool2d(2, 2), {x});
    channels = width;
  }
  x = net.add("flatten", model::flatten(), {x});
  x = net.add("fc", model::linear(16 * 8 * 8, kClasses), {x});
  const model::Wire labels = net.input("labels", {kBatch}, at::kLong, kClasses);
  return std::move(net).build(net.add("loss", model::cross_entropy(), {x, labels}));
}

// Trains and expects the loss on held-out samples to fall below `part` times its initial value.
void expect_learns(const model::Network& network, const OptimiserOptions& options,
                   std::int64_t minibatches, double part) {
  at::set_num_threads(1);  // the operations are too small to gain from a second thread
  Learner learner(network, options);
  const double before = learner.held_out_loss();
  learner.train(minibatches);
  const double after = learner.held_out_loss();
  std::printf("%s: loss %.3f -> %.3f\n", network.name.c_str(), before, after);
  EXPECT_LT(after, part * before);
}

TEST(Learning, FeaturesByAPerceptron) {
  expect_learns(data::small_network("mlp", {{"inputs", "64"}, {"hidden", "32"}}, 32),
                {.learning_rate = 0.1}, 20, 0.1);
}

TEST(Learning, ImagesByConvolutions) {
  expect_learns(tiny_vgg(), {.learning_rate = 0.02}, 20, 0.1);
}

// The vocabulary has 31 words, so the loss begins near log(31). A network that knew only how often
// each word occurs could not halve it.
TEST(Learning, LanguageByATransformer) {
  expect_learns(data::small_network("gpt", {{"hidden", "32"}, {"context", "16"}}, 32),
                {.learning_rate = 0.3}, 40, 0.5);
}

TEST(Learning, LanguageByTiedLstms) {
  expect_learns(
      data::small_network("awd-lm", {{"hidden", "64"}, {"embedding", "32"}, {"length", "16"}}, 32),
      {.kind = OptimiserKind::kAdam, .learning_rate = 0.01}, 40, 0.75);
}

// With Adam: the initial weights of such a narrow GNMT are so small that SGD would take too long.
TEST(Learning, TranslationByGnmt) {
  expect_learns(data::small_network("gnmt8", {{"hidden", "32"}, {"length", "8"}}, 32),
                {.kind = OptimiserKind::kAdam, .learning_rate = 0.01}, 50, 0.65);
}

TEST(Learning, CaptionsByS2vt) {
  expect_learns(data::small_network("s2vt", {{"hidden", "32"}}, 32),
                {.kind = OptimiserKind::kAdam, .learning_rate = 0.01}, 60, 0.5);
}

}  // namespace
}  // namespace pipedream::train
