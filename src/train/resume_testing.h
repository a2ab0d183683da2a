// Small trainings with checkpoints, for tests.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "checkpoint/folder.h"
#include "core/testing.h"
#include "model/blocks.h"
#include "model/network.h"
#include "train/optimiser_options.h"
#include "train/resume.h"
#include "train/trainer.h"

namespace pipedream::train {

namespace fs = std::filesystem;

inline constexpr std::uint64_t kTrainingSeed = 3;
inline constexpr std::int64_t kTrainingBatch =
    64;  // 64 minibatches are an epoch of the synthetic data

// Has dropout, and batch normalisation with its running averages.
inline model::Network make_small_network() {
  using namespace model;
  NetworkBuilder net("small", kTrainingBatch);
  Wire x = net.input("image", {kTrainingBatch, 2, 4, 4}, at::kFloat);
  for (const std::string name : {"first", "second"}) {
    const std::int64_t in = name == "first" ? 2 : 4;
    x = net.add(name + ".conv", conv2d({.in = in, .out = 4, .kernel = 3, .padding = 1}), {x});
    x = net.add(name + ".bn", batch_norm2d(4), {x});
    x = net.add(name + ".relu", relu(), {x});
    x = net.add(name + ".dropout", dropout_block(0.2), {x});
  }
  x = net.add("flatten", flatten(), {x});
  x = net.add("fc", linear(64, 5), {x});
  const Wire labels = net.input("labels", {kTrainingBatch}, at::kLong, 5);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

struct PlanCase {
  std::string name;
  std::string system;
  std::vector<int> replicas;
  int microbatches = 1;
  OptimiserKind optimiser = OptimiserKind::kMomentum;
  std::optional<double> ema = std::nullopt;  // OptimiserOptions::ema
};

inline plan::Plan plan_of_case(const model::Network& network, const PlanCase& of) {
  plan::Plan plan;
  plan.system = of.system;
  plan.microbatches = of.microbatches;
  plan.stages.resize(of.replicas.size());
  std::vector<LayerId> layers;
  for (const LayerId layer : network.graph.order())
    if (!network.graph.layer(layer).is_input) layers.push_back(layer);
  for (std::size_t i = 0; i < layers.size(); ++i)
    plan.stages[i * plan.stages.size() / layers.size()].layers.push_back(layers[i]);
  int worker = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    for (int r = 0; r < of.replicas[s]; ++r) plan.stages[s].workers.push_back({worker++});
    plan.stages[s].depth = static_cast<int>(plan.stages.size() - s);
  }
  return plan;
}

// Trains with checkpoints in a folder of its own.
class Training {
 public:
  explicit Training(const PlanCase& of, at::Device device = at::kCPU)
      : of_(of), device_(device), plan_(plan_of_case(network_, of)) {
    about_.run = std::string(32, '0');
    about_.batch = kTrainingBatch;
    about_.data_samples = 4096;
  }

  [[nodiscard]] fs::path folder() const { return folder_.path(); }
  [[nodiscard]] Recipe recipe(std::int64_t minibatches) const {
    Recipe recipe{.batch = kTrainingBatch, .minibatches = minibatches, .evaluate = false};
    recipe.checkpoints = {.every = 20, .at_epochs = true, .at_end = of_.ema.has_value()};
    recipe.uses_averages = of_.ema.has_value();
    recipe.saving.emplace(Saving{.folder = folder_.path(), .keep = 100, .about = about_});
    return recipe;
  }
  TrainingOutcome run(const Recipe& recipe) const {
    const data::Data data = data::open_data("", network_, {.seed = kTrainingSeed});
    runtime::Job job{.network = network_, .plan = plan_, .seed = kTrainingSeed};
    if (!device_.is_cpu())
      job.devices.assign(static_cast<std::size_t>(plan::worker_count(plan_)), device_);
    job.make_optimiser = [this] {
      return make_optimiser({.kind = of_.optimiser, .learning_rate = 0.01, .ema = of_.ema});
    };
    job.replicas = check_recipe(recipe, job);
    return train_on_threads(recipe, job, data, {}, std::nullopt);
  }
  static void go_on_from(const fs::path& checkpoint, Recipe& recipe) {
    const SoundCheckpoint found = one_checkpoint(checkpoint);
    recipe.beginning = beginning_of(found.manifest, found.manifest);
    recipe.resumed = tensors_of(found);
    recipe.resumes = true;
  }
  // Goes on from a checkpoint that another training, or this one, has written.
  TrainingOutcome resume(const fs::path& checkpoint, std::int64_t minibatches) const {
    Recipe wanted = recipe(minibatches);
    go_on_from(checkpoint, wanted);
    return run(wanted);
  }

 private:
  test::TemporaryFolder folder_;
  PlanCase of_;
  at::Device device_;
  model::Network network_ = make_small_network();
  plan::Plan plan_;
  checkpoint::Manifest about_;
};

inline void expect_same_weights(const runtime::Weights& found, const runtime::Weights& wanted) {
  ASSERT_EQ(found.parameters.size(), wanted.parameters.size());
  for (const auto& [name, tensor] : wanted.parameters)
    EXPECT_TRUE(at::equal(found.parameters.at(name), tensor)) << name;
  ASSERT_EQ(found.buffers.size(), wanted.buffers.size());
  EXPECT_FALSE(wanted.buffers.empty());
  for (const auto& [name, tensor] : wanted.buffers)
    EXPECT_TRUE(at::equal(found.buffers.at(name), tensor)) << name;
}

inline std::vector<std::int64_t> steps_in(const fs::path& folder) {
  std::vector<std::int64_t> steps;
  for (const checkpoint::Found& found : checkpoint::find_checkpoints(folder)) {
    EXPECT_TRUE(std::holds_alternative<checkpoint::Manifest>(found.content));
    steps.push_back(found.step);
  }
  return steps;
}

}  // namespace pipedream::train
