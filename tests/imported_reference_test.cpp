// Models that PyTorch exported train here as they do in PyTorch: the example models of
// tools/export_examples.py, with every synchronous system, on one to four stages.
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <ATen/ops/empty.h>

#include "core/testing.h"
#include "data/batches.h"
#include "data/data_set.h"
#include "imported/network.h"
#include "model/weights_file.h"
#include "train/optimiser_options.h"
#include "train/resume_testing.h"
#include "train/trainer.h"

namespace pipedream {
namespace {

namespace fs = std::filesystem;

constexpr int kNotInstalled = 77;
constexpr std::int64_t kSamples = 88;  // of which eight are held out: 20 minibatches an epoch
constexpr std::int64_t kBatch = 4;
constexpr std::uint64_t kSeed = 3;
constexpr int kUpdates = 10;
// The same kernels as PyTorch's. Others round differently, and untrained networks with ReLUs and
// batch normalisation blow that up: after ten updates PyTorch with oneDNN and PyTorch without are
// much further apart than what is allowed here.
constexpr imported::Kernels kKernels = imported::Kernels::kLibtorch;

struct Example {
  std::string name;
  imported::Loss loss;
  double rate = 0.05;
  // Only a few plans are tried, except under `./run test slow`.
  bool is_large = false;
};

void PrintTo(const Example& example, std::ostream* stream) { *stream << example.name; }

class ImportedReference : public testing::TestWithParam<Example> {
 protected:
  void SetUp() override {
    write_order();
    const std::string command =
        std::string(PD_PYTHON) +
        " -W ignore '" PD_SOURCE_DIR "/tests/reference/imported_reference.py' '" +
        folder_.path().string() + "' " + GetParam().name + " " + std::to_string(kSamples) + " " +
        std::to_string(GetParam().rate) + " '" + file(".order").string() + "'";
    const int status = WEXITSTATUS(std::system(command.c_str()));
    if (status == kNotInstalled) GTEST_SKIP() << "torchvision is not installed for " << PD_PYTHON;
    ASSERT_EQ(status, 0) << command;
  }
  [[nodiscard]] fs::path file(const std::string& ending) const {
    return folder_.path() / (GetParam().name + ending);
  }
  [[nodiscard]] model::Network network() const {
    return imported::Model(file(".pt2"), kKernels).network(GetParam().loss, kBatch);
  }
  // The numbers of stages to try.
  [[nodiscard]] static std::vector<int> stages() {
    const bool tries_all = !GetParam().is_large || std::getenv("PD_FULL_COUNT") != nullptr;
    return tries_all ? std::vector<int>{2, 3, 4} : std::vector<int>{3};
  }

  // The minibatches that a training here has, for PyTorch to use the same.
  void write_order() const {
    const data::Batches batches(kSamples - kSamples / 10, kBatch, kSeed, /*shuffle=*/true);
    const at::Tensor order = at::empty({2 * kUpdates, kBatch}, at::kLong);
    for (std::int64_t i = 0; i < 2 * kUpdates; ++i) {
      const auto row = batches.samples_of(i);
      ASSERT_EQ(row.size(), static_cast<std::size_t>(kBatch)) << "the test wants whole minibatches";
      std::copy(row.begin(), row.end(), order.data_ptr<std::int64_t>() + i * kBatch);
    }
    model::write_weights(file(".order"), {{"order", order}});
  }

  struct Trained {
    runtime::Weights weights;
    double first_loss = 0;
  };
  [[nodiscard]] Trained train(const model::Network& network, const plan::Plan& plan,
                              std::int64_t minibatches) const {
    const data::Data data = open();
    runtime::Job job{.network = network, .plan = plan, .seed = kSeed};
    job.make_optimiser = [&] {
      return train::make_optimiser(
          {.kind = train::OptimiserKind::kSgd, .learning_rate = GetParam().rate});
    };
    train::Recipe recipe{.batch = kBatch, .minibatches = minibatches, .evaluate = false};
    job.replicas = train::check_recipe(recipe, job);
    Trained trained;
    bool is_first = true;
    const train::Observer observer{.step = [&](const train::Step& step) {
      if (std::exchange(is_first, false)) trained.first_loss = step.loss;
    }};
    trained.weights = train::train_on_threads(recipe, job, data, observer, std::nullopt).weights;
    return trained;
  }
  [[nodiscard]] data::Data open() const {
    return data::open_data("safetensors:" + file(".safetensors").string(), network(),
                           {.seed = kSeed});
  }

  // Cuts the network into `stages` stages of about equally many layers.
  static plan::Plan cut(const model::Network& network, const std::string& system, int stages,
                        int microbatches, int replicas = 1) {
    return train::plan_of_case(
        network, {.name = system,
                  .system = system,
                  .replicas = std::vector<int>(static_cast<std::size_t>(stages), replicas),
                  .microbatches = microbatches});
  }

  static void expect_near(const Trained& ours, const model::NamedTensors& theirs) {
    EXPECT_NEAR(ours.first_loss, theirs.at("losses")[0].item<double>(),
                1e-6 * std::abs(ours.first_loss));
    for (const auto* list : {&ours.weights.parameters, &ours.weights.buffers})
      for (const auto& [name, tensor] : *list) {
        const at::Tensor wanted = theirs.at(name).to(at::kDouble);
        const double apart = (tensor.to(at::kDouble) - wanted).norm().item<double>();
        EXPECT_LE(apart, 1e-4 * wanted.norm().item<double>()) << name;
      }
  }
  static void expect_same(const Trained& one, const Trained& other) {
    EXPECT_EQ(one.first_loss, other.first_loss);
    for (const auto& [name, tensor] : one.weights.parameters)
      EXPECT_TRUE(at::equal(tensor, other.weights.parameters.at(name))) << name;
    for (const auto& [name, tensor] : one.weights.buffers)
      EXPECT_TRUE(at::equal(tensor, other.weights.buffers.at(name))) << name;
  }

  test::TemporaryFolder folder_;
};

TEST_P(ImportedReference, GivesTheWeightsOfPyTorchWithEverySynchronousSystem) {
  const model::Network net = network();
  const auto theirs = [&](const std::string& use) { return model::read_weights(file(use)); };
  const Trained whole = train(net, cut(net, "mp", 1, 1), kUpdates);
  expect_near(whole, theirs(".whole"));
  for (const int count : stages()) {
    SCOPED_TRACE("mp on " + std::to_string(count));
    expect_same(train(net, cut(net, "mp", count, 1), kUpdates), whole);
  }
  const Trained in_two = train(net, cut(net, "gpipe", 1, 2), kUpdates);
  expect_near(in_two, theirs(".cut"));
  for (const std::string system : {"gpipe", "torchgpipe", "dapple", "interleaved"})
    for (const int count : stages()) {
      if (stages().size() == 1 && system != "dapple") continue;
      SCOPED_TRACE(system + " on " + std::to_string(count));
      expect_same(train(net, cut(net, system, count, 2), kUpdates), in_two);
    }
  expect_near(train(net, cut(net, "dp-bsp", 1, 1, 2), 2 * kUpdates), theirs(".replicas"));
}

INSTANTIATE_TEST_SUITE_P(
    Examples, ImportedReference,
    testing::Values(Example{"vgg16", imported::Loss::kCrossEntropy, 0.05, true},
                    Example{"resnet50", imported::Loss::kCrossEntropy, 0.001, true},
                    Example{"vit", imported::Loss::kCrossEntropy},
                    Example{"lstm", imported::Loss::kLanguageModel},
                    Example{"transformer", imported::Loss::kCrossEntropy},
                    Example{"unet", imported::Loss::kCrossEntropy},
                    Example{"gpt", imported::Loss::kLanguageModel},
                    Example{"diffusion", imported::Loss::kMse}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace pipedream
