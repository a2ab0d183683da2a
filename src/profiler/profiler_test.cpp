#include "profiler/profiler.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>

#include "core/error.h"
#include "core/testing.h"
#include "model/blocks.h"
#include "model/network_builder.h"
#include "model/zoo.h"
#include "profile/profile_file.h"
#include "profiler/fixed_time.h"

namespace pipedream::profiler {
namespace {

model::Network network(const std::string& name, const std::map<std::string, std::string>& given,
                       std::int64_t batch) {
  const model::NetworkEntry& entry = model::zoo_entry(name);
  return entry.make(model::Options(entry.options, given), batch);
}

profile::Profile profile_quickly(const model::Network& of) {
  return profile_network(of, {.budget = std::chrono::duration<double>(0.3)});
}

const profile::LayerCost& cost(const profile::Profile& profile, const std::string& layer) {
  return profile.cost(profile.graph.find(layer).value());
}

TEST(Profiler, SizesAreExact) {
  const auto profile = profile_quickly(
      network("vgg16", {{"image-size", "32"}, {"classes", "10"}, {"hidden", "64"}}, 2));
  const std::int64_t image = 2 * 64 * 32 * 32 * 4;  // bytes after the first convolution
  EXPECT_EQ(cost(profile, "features.0").weights.count, (64 * 3 * 9 + 64) * 4);
  EXPECT_EQ(cost(profile, "features.2").weights.count, (64 * 64 * 9 + 64) * 4);
  EXPECT_EQ(cost(profile, "features.1").weights.count, 0);
  const graph::Layer& relu = profile.graph.layer(*profile.graph.find("features.1"));
  EXPECT_EQ(profile.graph.value(relu.outputs[0]).bytes.count, image);
}

// The decoder's backward needs the weights of the embedding, but they do not count as an activation
// of either layer.
TEST(Profiler, CountsSharedWeightsAsWeightsAlone) {
  const auto profile = profile_quickly(network(
      "awd-lm", {{"embedding", "8"}, {"hidden", "8"}, {"vocabulary", "500"}, {"length", "3"}}, 2));
  const graph::Layer& encoder = profile.graph.layer(*profile.graph.find("encoder"));
  ASSERT_EQ(encoder.outputs.size(), 2u);
  EXPECT_TRUE(profile.graph.value(encoder.outputs[1]).is_weight);
  EXPECT_EQ(profile.graph.value(encoder.outputs[1]).bytes, cost(profile, "encoder").weights);
  EXPECT_FALSE(cost(profile, "encoder").keeps_output.at(1));
  EXPECT_LT(held_bytes(profile, *profile.graph.find("encoder")), cost(profile, "encoder").weights);
  EXPECT_EQ(cost(profile, "decoder").weights.count, 500 * 4);
}

// It is known what autograd keeps for these kinds of layers. The profiler must find it by
// measuring.
TEST(Profiler, FindsWhatEachKindOfLayerKeepsForBackward) {
  const auto profile = profile_quickly(
      network("vgg16", {{"image-size", "32"}, {"classes", "10"}, {"hidden", "64"}}, 2));
  const std::int64_t image = 2 * 64 * 32 * 32 * 4;
  EXPECT_EQ(cost(profile, "features.2").stash.count, 0);  // a convolution keeps its input
  EXPECT_EQ(cost(profile, "features.2").keeps_input, std::vector<bool>{true});
  EXPECT_EQ(cost(profile, "features.2").keeps_output, std::vector<bool>{false});
  EXPECT_EQ(cost(profile, "features.3").stash.count, 0);  // ReLU keeps its output
  EXPECT_EQ(cost(profile, "features.3").keeps_input, std::vector<bool>{false});
  EXPECT_EQ(cost(profile, "features.3").keeps_output, std::vector<bool>{true});
  // The output of a convolution is freed after its ReLU. The output of the ReLU counts once, though
  // both the ReLU and the next layer keep it.
  EXPECT_EQ(held_bytes(profile, *profile.graph.find("features.2")).count, 0);
  EXPECT_EQ(held_bytes(profile, *profile.graph.find("features.3")).count, image);
  EXPECT_EQ(cost(profile, "features.4").stash.count, image / 4 * 2);  // pooling: 8-byte indices
  EXPECT_EQ(cost(profile, "features.4").keeps_input, std::vector<bool>{true});
  EXPECT_EQ(cost(profile, "flatten").stash.count, 0);  // its output is a view of its input
  EXPECT_EQ(cost(profile, "flatten").keeps_output, std::vector<bool>{false});
  EXPECT_EQ(cost(profile, "flatten").keeps_input, std::vector<bool>{false});
  EXPECT_EQ(cost(profile, "classifier.2").stash.count, 2 * 64 * 4);  // dropout keeps its factors
}

// In its backward a layer works with the gradients of its inputs and outputs at least; gradients of
// weights do not count. In its forward it works with what it keeps, its outputs, and inputs that it
// does not keep.
TEST(Profiler, FindsWhatEachKindOfLayerWorksWith) {
  const auto profile = profile_quickly(
      network("vgg16", {{"image-size", "32"}, {"classes", "10"}, {"hidden", "64"}}, 2));
  const std::int64_t image = 2 * 64 * 32 * 32 * 4;
  EXPECT_EQ(cost(profile, "features.3").working->all.count, 2 * image);  // ReLU
  EXPECT_EQ(cost(profile, "features.3").forward_working.all.count, 2 * image);
  EXPECT_EQ(cost(profile, "features.4").working->all.count, image + image / 4);  // pooling
  EXPECT_EQ(cost(profile, "features.4").forward_working.all.count, image / 4 * 3) << "with indices";
  EXPECT_GE(cost(profile, "features.2").working->all.count, 2 * image);  // a convolution
  // The first convolution computes no gradient for its input, the image.
  EXPECT_LT(cost(profile, "features.0").working->all.count,
            cost(profile, "features.2").working->all.count);
  // The gradient of a view is a view.
  EXPECT_EQ(cost(profile, "flatten").working->all.count, 2 * 512 * 4);
  EXPECT_EQ(cost(profile, "classifier.3").working->all.count, 2 * 2 * 64 * 4);  // a linear layer
}

TEST(Profiler, TimesEveryLayerAndTheWhole) {
  const auto profile = profile_quickly(network("mlp", {{"inputs", "64"}}, 16));
  for (std::size_t i = 0; i < profile.costs.size(); ++i) {
    const bool is_input = profile.graph.layers()[i].is_input;
    EXPECT_EQ(profile.costs[i].forward.count() > 0, !is_input) << profile.graph.layers()[i].name;
    EXPECT_EQ(profile.costs[i].backward.count() > 0, !is_input) << profile.graph.layers()[i].name;
  }
  EXPECT_GT(profile.whole.value().count(), 0);
  EXPECT_GT(profile.input.count(), 0);
  EXPECT_EQ(profile.batch, 16);
}

TEST(Profiler, TimesTheUpdatesOfLayersWithWeights) {
  const auto mlp = network("mlp", {{"inputs", "64"}, {"layers", "3"}}, 16);
  std::map<std::size_t, const void*> weights;  // by the parameter's number
  const auto update = [&](const std::vector<WeightUpdate>& updates) {
    EXPECT_FALSE(at::GradMode::is_enabled());
    for (const auto& [parameter, weight, gradient] : updates) {
      EXPECT_EQ(gradient.sizes(), weight.sizes());
      EXPECT_EQ(weights.emplace(parameter, weight.const_data_ptr()).first->second,
                weight.const_data_ptr());
      weight.add_(gradient, 1e-12);
    }
  };
  const auto profile = profile_network(mlp, {.budget = std::chrono::duration<double>(0.3),
                                             .make_update = [&] { return Update(update); }});
  std::size_t parameters = 0;
  for (std::size_t i = 0; i < profile.costs.size(); ++i) {
    parameters += mlp.specs[i].parameters.size();
    EXPECT_EQ(profile.costs[i].update.count() > 0, profile.costs[i].weights.count > 0)
        << profile.graph.layers()[i].name;
  }
  EXPECT_EQ(weights.size(), parameters) << "each has a number of its own";
}

TEST(Profiler, WithoutAnUpdateThereIsNoneInTheProfile) {
  EXPECT_EQ(total_update(profile_quickly(network("mlp", {{"inputs", "64"}}, 16))), Nanos(0));
}

TEST(Profiler, TheWholeModelsPassIncludesTheUpdates) {
  const auto update = [](const std::vector<WeightUpdate>& updates) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20) * updates.size());
  };
  const auto mlp = network("mlp", {{"inputs", "64"}, {"layers", "2"}}, 1);
  const auto profile = profile_network(mlp, {.budget = std::chrono::duration<double>(0.3),
                                             .make_update = [&] { return Update(update); }});
  EXPECT_GE(total_update(profile), std::chrono::milliseconds(4 * 20)) << "two layers of two";
  EXPECT_GE(*profile.whole, std::chrono::milliseconds(4 * 20));
}

// The budget is too short for a warm-up, so the first pass of the model counts.
TEST(Profiler, AnOptimisersFirstStepIsNotTimed) {
  std::set<std::size_t> seen;
  const auto update = [&](const std::vector<WeightUpdate>& updates) {
    for (const WeightUpdate& each : updates)
      if (seen.insert(each.parameter).second)
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
  };
  const auto profile = profile_network(network("mlp", {{"inputs", "64"}, {"layers", "2"}}, 1),
                                       {.budget = std::chrono::duration<double>(1e-6),
                                        .make_update = [&] { return Update(update); }});
  EXPECT_EQ(profile.passes, 1);
  EXPECT_EQ(seen.size(), 4U);
  EXPECT_LT(*profile.whole, std::chrono::milliseconds(4 * 200));
  EXPECT_LT(total_update(profile), std::chrono::milliseconds(200));
}

// Every worker has a model and an optimiser of its own.
TEST(Profiler, MeasuresInTheCompanyOfOthers) {
  std::mutex mutex;
  std::map<int, std::set<const void*>> weights;  // by optimiser
  int made = 0;
  const auto make_update = [&]() -> Update {
    const std::lock_guard lock(mutex);
    return [&, number = made++](const std::vector<WeightUpdate>& updates) {
      const std::lock_guard inner(mutex);
      for (const WeightUpdate& each : updates) weights[number].insert(each.weight.const_data_ptr());
    };
  };
  const auto mlp = network("mlp", {{"inputs", "64"}, {"layers", "2"}}, 4);
  const auto profile = profile_network(
      mlp,
      {.budget = std::chrono::duration<double>(0.3), .make_update = make_update, .workers = 3});
  EXPECT_EQ(profile.workers, 3);
  ASSERT_EQ(weights.size(), 3u);
  std::set<const void*> all;
  for (const auto& [number, seen] : weights) all.insert(seen.begin(), seen.end());
  EXPECT_EQ(all.size(), 3u * 4) << "they share no weights";
}

TEST(Profiler, WhatOthersThrowReachesTheCaller) {
  int made = 0;
  const auto make_update = [&]() -> Update {
    if (made++ > 0) throw BadValue("no second optimiser");
    return {};
  };
  EXPECT_THROW(
      (void)profile_network(
          network("mlp", {{"inputs", "64"}}, 4),
          {.budget = std::chrono::duration<double>(0.1), .make_update = make_update, .workers = 2}),
      BadValue);
}

constexpr std::chrono::milliseconds kNap(20);

using Nap = std::function<void(std::int64_t samples)>;

// A network with a layer "nap" that calls `nap` in its forward and `backward` in its backward, each
// with the number of samples.
model::Network napping(std::int64_t batch, const Nap& nap, const Nap& backward = {}) {
  model::NetworkBuilder net("napping", batch);
  model::Wire x = net.input("features", {batch, 4}, at::kFloat);
  x = net.add("linear", model::linear(4, 3), {x});
  x = net.add("nap",
              {.kind = "Nap",
               .infer = [](std::span<const model::TensorType> inputs) { return inputs[0]; },
               .forward =
                   [=](const model::Tensors& in, const model::Weights&, const model::Pass&) {
                     nap(in[0].size(0));
                     at::Tensor doubled = in[0] * 2;
                     if (backward && doubled.requires_grad())
                       doubled.register_hook(
                           [=](const at::Tensor& gradient) { backward(gradient.size(0)); });
                     return doubled;
                   }},
              {x});
  const model::Wire labels = net.input("labels", {batch}, at::kLong, 3);
  const model::Wire loss = net.add("loss", model::cross_entropy(), {x, labels});
  return std::move(net).build(loss);
}

// Sleeps for kNap when called, and counts the calls.
struct Naps {
  std::map<std::int64_t, int> counts;  // calls, by number of samples

  void operator()(std::int64_t samples) {
    ++counts[samples];
    std::this_thread::sleep_for(kNap);
  }
};

std::set<std::int64_t> samples_of(const Naps& naps) {
  std::set<std::int64_t> samples;
  for (const auto& [count, times] : naps.counts) samples.insert(count);
  return samples;
}

TEST(Profiler, FindsWhatIsFixedByRunningAnEighthOfTheMinibatchToo) {
  Naps naps;
  const auto profile = profile_quickly(napping(32, std::ref(naps)));
  EXPECT_EQ(samples_of(naps), (std::set<std::int64_t>{4, 32}));
  EXPECT_GE(naps.counts[32], 2 * *profile.passes + 1) << "in one go, by layers; once for memory";
  const profile::LayerCost nap = cost(profile, "nap");
  EXPECT_GE(nap.forward, kNap);
  // A part took kNap at least. Half of the fixed time is enough here: the other layers take hardly
  // any time, and their noise may scale the result down.
  EXPECT_GE(nap.fixed_forward, fixed_time(nap.forward, kNap, 4.0 / 32) / 2);
  for (const profile::LayerCost& layer : profile.costs) {
    EXPECT_GE(layer.fixed_forward, Nanos(0));
    EXPECT_GE(layer.fixed_backward, Nanos(0));
    EXPECT_LE(layer.fixed_forward, layer.forward);
    EXPECT_LE(layer.fixed_backward, layer.backward);
  }
}

TEST(Profiler, OfFewSamplesRunsTwoToFindWhatIsFixed) {
  Naps naps;
  const auto profile = profile_quickly(napping(3, std::ref(naps)));
  EXPECT_EQ(samples_of(naps), (std::set<std::int64_t>{2, 3}));
  EXPECT_GE(cost(profile, "nap").fixed_forward,
            fixed_time(cost(profile, "nap").forward, kNap, 2.0 / 3) / 2);
}

TEST(Profiler, OfOneOrTwoSamplesDoesNotKnowWhatIsFixed) {
  for (const std::int64_t batch : {1, 2}) {
    Naps naps;
    const auto profile = profile_quickly(napping(batch, std::ref(naps)));
    EXPECT_EQ(samples_of(naps), std::set<std::int64_t>{batch});
    EXPECT_EQ(total_fixed(profile), Nanos(0));
  }
}

// The layer allocates 1 MiB in its forward, 3 MiB in its backward, and 16 KiB per sample in each.
TEST(Profiler, FindsWhatOfWorkingMemoryIsFixed) {
  const auto allocate = [](std::int64_t mebibytes) {
    return [=](std::int64_t samples) { (void)at::ones({(mebibytes << 18) + samples * (1 << 12)}); };
  };
  const auto profile = profile_quickly(napping(32, allocate(1), allocate(3)));
  const profile::LayerCost nap = cost(profile, "nap");
  const auto count = [](Bytes bytes) { return static_cast<double>(bytes.count); };
  EXPECT_NEAR(count(nap.forward_working.all), (1 << 20) + 32 * (1 << 14), 4096);
  EXPECT_NEAR(count(nap.forward_working.fixed), 1 << 20, 4096);
  EXPECT_NEAR(count(nap.working->all), (3 << 20) + 32 * (1 << 14), 4096);
  EXPECT_NEAR(count(nap.working->fixed), 3 << 20, 4096);
  EXPECT_LT(cost(profile, "linear").working->fixed, Bytes{4096});
  EXPECT_LT(cost(profile, "linear").forward_working.fixed, Bytes{4096});
}

TEST(Profiler, MeasuresPartsInTheCompanyOfPartsOnly) {
  constexpr std::int64_t kBatch = 32;
  const std::thread::id measured = std::this_thread::get_id();
  std::atomic<bool> parts_began = false;
  std::atomic<int> late = 0;  // naps of others over a whole minibatch that end after `parts_began`
  const auto nap = [&](std::int64_t samples) {
    const bool is_other = std::this_thread::get_id() != measured;
    if (!is_other && samples < kBatch) parts_began = true;
    std::this_thread::sleep_for(is_other ? 5 * kNap : kNap);
    if (is_other && samples == kBatch && parts_began) ++late;
  };
  (void)profile_network(napping(kBatch, nap),
                        {.budget = std::chrono::duration<double>(0.5), .workers = 3});
  EXPECT_TRUE(parts_began);
  EXPECT_EQ(late, 0);
}

// In every network the inputs of a minibatch can be cut by samples.
TEST(Profiler, RunsPartsOfEveryKindOfNetwork) {
  // Parts of two samples are the smallest that batch norm can be trained on.
  const auto profile =
      profile_quickly(network("resnet50", {{"image-size", "32"}, {"classes", "10"}}, 16));
  EXPECT_LE(total_fixed(profile), total_forward(profile) + total_backward(profile));
  const auto recurrent = profile_quickly(
      network("gnmt8", {{"hidden", "16"}, {"vocabulary", "20"}, {"length", "4"}}, 8));
  EXPECT_LE(total_fixed(recurrent), total_forward(recurrent) + total_backward(recurrent));
}

TEST(Profiler, HandlesValuesWithSeveralConsumers) {
  const auto profile = profile_quickly(
      network("gnmt8", {{"hidden", "16"}, {"vocabulary", "20"}, {"length", "4"}}, 2));
  EXPECT_GT(cost(profile, "encoder.rnn_layers.0").backward.count(), 0);
  // The backward of an addition needs none of its inputs; that of attention needs its keys, and
  // that of the loss its labels.
  EXPECT_EQ(cost(profile, "encoder.rnn_layers.2.residual").keeps_input, std::vector(2, false));
  EXPECT_EQ(cost(profile, "encoder.rnn_layers.2.residual").stash.count, 0);
  EXPECT_TRUE(cost(profile, "decoder.att_rnn.attn").keeps_input.at(1));
  EXPECT_TRUE(cost(profile, "loss").keeps_input.at(1));
}

TEST(Profiler, ADropoutThatDropsNothingIsAViewAndKeepsNothing) {
  const auto profile = profile_quickly(network(
      "vgg16", {{"image-size", "32"}, {"classes", "10"}, {"hidden", "64"}, {"dropout", "0"}}, 2));
  EXPECT_EQ(cost(profile, "classifier.2").stash.count, 0);
  EXPECT_EQ(cost(profile, "classifier.2").keeps_output, std::vector{false});
  EXPECT_EQ(cost(profile, "classifier.2").keeps_input, std::vector{false});
}

TEST(Profiler, ItsResultSurvivesTheFile) {
  const auto profile = profile_quickly(network("mlp", {{"inputs", "64"}}, 16));
  const auto read = profile::parse_profile_json(profile::to_json(profile), "p.json");
  EXPECT_EQ(read.costs, profile.costs);
  EXPECT_EQ(profile::to_json(read), profile::to_json(profile));
}

TEST(Profiler, ADeviceThatDoesNotExistIsRefused) {
  const auto mlp = network("mlp", {}, 1);
  const std::string message = test::message_of<CannotMeet>(
      [&] { (void)profile_network(mlp, {.device = at::Device("cuda:99")}); });
  EXPECT_TRUE(message.starts_with("device cuda:99 was asked for, and ")) << message;
}

}  // namespace
}  // namespace pipedream::profiler
