// Small networks, one for each feature that matters to pipelines, small enough for hundreds of
// runs, and functions that cut them into stages. Only *_test.cpp files include this.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/testing.h"
#include "model/blocks.h"
#include "model/zoo.h"
#include "plan/plan.h"

namespace pipedream::test {

inline constexpr std::int64_t kBatch = 8;

[[nodiscard]] inline model::Network from_zoo(const std::string& name,
                                             const std::map<std::string, std::string>& sizes) {
  const auto& entry = model::zoo_entry(name);
  return entry.make(model::Options(entry.options, sizes), kBatch);
}

// A network with convolutions, batch norm, residual connections and dropout, so with buffers and
// random numbers.
[[nodiscard]] inline model::Network small_resnet(double dropout = 0.2) {
  using namespace model;
  NetworkBuilder net("small resnet", kBatch);
  Wire x = net.input("image", {kBatch, 3, 6, 6}, at::kFloat);
  x = net.add("stem", conv2d({.in = 3, .out = 4, .kernel = 3, .padding = 1, .bias = false}), {x});
  x = net.add("stem.bn", batch_norm2d(4), {x});
  for (int b = 0; b < 2; ++b) {
    const std::string name = "block" + std::to_string(b);
    Wire y = net.add(name + ".relu", relu(), {x});
    y = net.add(name + ".conv",
                conv2d({.in = 4, .out = 4, .kernel = 3, .padding = 1, .he_init = true}), {y});
    y = net.add(name + ".bn", batch_norm2d(4), {y});
    y = net.add(name + ".dropout", dropout_block(dropout), {y});
    x = net.add(name + ".add", add(), {y, x});
  }
  x = net.add("pool", average_pool2d_to(2), {x});
  x = net.add("flatten", flatten(), {x});
  x = net.add("fc", linear(16, 5), {x});
  const Wire labels = net.input("labels", {kBatch}, at::kLong, 5);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

// A network in which six layers use one value, "a". Some of them follow each other in the order of
// layers. If the stages are not runs of this order, the gradients of "a" come from many stages.
//
//             ┌─▶ u0 ─┐
//   in ─▶ a ──┼─▶ …  ─┼─▶ sums ─▶ relu ─▶ out
//             └─▶ u5 ─┘
[[nodiscard]] inline model::Network many_uses() {
  using namespace model;
  NetworkBuilder net("many uses", kBatch);
  const Wire in = net.input("features", {kBatch, 12}, at::kFloat);
  const Wire a = net.add("a", linear(12, 12), {in});
  std::vector<Wire> branches;
  for (int i = 0; i < 6; ++i) {
    const std::string name = "u" + std::to_string(i);
    branches.push_back(net.add(name, linear(12, 12), {a}));
    branches.back() = net.add(name + ".drop", dropout_block(0.1), {branches.back()});
  }
  Wire sum = branches[0];
  for (int i = 1; i < 6; ++i)
    sum = net.add("sum" + std::to_string(i), add(), {sum, branches[static_cast<std::size_t>(i)]});
  sum = net.add("relu", relu(), {sum});
  const Wire out = net.add("out", linear(12, 5), {sum});
  const Wire labels = net.input("labels", {kBatch}, at::kLong, 5);
  return std::move(net).build(net.add("loss", cross_entropy(), {out, labels}));
}

// A network with tied weights: four layers use one matrix, the layer that owns it and three later
// ones.
[[nodiscard]] inline model::Network tied() {
  using namespace model;
  NetworkBuilder net("tied", kBatch);
  Wire x = net.input("features", {kBatch, 6}, at::kFloat);
  x = net.add("first", linear(6, 6), {x});
  Block owner = linear(6, 6);
  owner.shared = {0};
  x = net.add("owner", std::move(owner), {x});
  const Wire weight = net.weight(x);
  for (int i = 0; i < 3; ++i) {
    const std::string name = "user" + std::to_string(i);
    x = net.add(name + ".relu", relu(), {x});
    x = net.add(name, tied_linear(6, 6, default_init(6)), {x, weight});
    x = net.add(name + ".drop", dropout_block(0.1), {x});
  }
  x = net.add("out", linear(6, 5), {x});
  const Wire labels = net.input("labels", {kBatch}, at::kLong, 5);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

[[nodiscard]] inline model::Network small_network(const std::string& name) {
  if (name == "mlp")
    return from_zoo("mlp", {{"inputs", "12"}, {"hidden", "16"}, {"layers", "5"}, {"classes", "5"}});
  if (name == "gnmt8")
    return from_zoo("gnmt8", {{"hidden", "8"}, {"vocabulary", "13"}, {"length", "3"}});
  if (name == "gpt")
    return from_zoo(
        "gpt",
        {{"hidden", "8"}, {"layers", "3"}, {"heads", "2"}, {"vocabulary", "13"}, {"context", "5"}});
  if (name == "awd-lm")
    return from_zoo("awd-lm",
                    {{"embedding", "6"}, {"hidden", "8"}, {"vocabulary", "13"}, {"length", "4"}});
  if (name == "tied") return tied();
  return name == "many uses" ? many_uses() : small_resnet();
}

// The networks of `names` that a test should run: normally all of them. Under a sanitizer a run
// takes about four times as long, so only the quick networks are run or, if there is none, the last
// of `names`.
[[nodiscard]] inline std::vector<std::string> networks(std::vector<std::string> names) {
  if (!kSanitized) return names;
  const std::string last = names.back();
  std::erase_if(names, [](const std::string& name) {
    return name == "gnmt8" || name == "gpt" || name == "awd-lm";
  });
  if (names.empty()) names.push_back(last);
  return names;
}

// The values that a test should go through: all of them, or only the last under a sanitizer.
template <class T>
[[nodiscard]] std::vector<T> all_or_last(std::vector<T> values) {
  if (kSanitized) values.erase(values.begin(), values.end() - 1);
  return values;
}

// All layers except input layers, in the order of the graph.
[[nodiscard]] inline std::vector<LayerId> layers_in_order(const model::Network& network) {
  std::vector<LayerId> layers = network.graph.order();
  std::erase_if(layers, [&](LayerId layer) { return network.graph.layer(layer).is_input; });
  return layers;
}

// Sets the depths: d_S = 1, d_i = ⌈r_{i+1}·d_{i+1} / r_i⌉ + 1, where r_i is the number of replicas
// of stage i (cost/depths.h).
inline void set_depths(plan::Plan& plan) {
  int behind = 0;
  for (std::size_t s = plan.stages.size(); s-- > 0;) {
    const int replicas = static_cast<int>(plan.stages[s].workers.size());
    plan.stages[s].depth = (behind + replicas - 1) / replicas + 1;
    behind = replicas * plan.stages[s].depth;
  }
}

// A plan that cuts the layers, in their order, into stages with nearly equal numbers of layers.
// Stage s has `replicas`[s] workers.
[[nodiscard]] inline plan::Plan cut_in_order(const model::Network& network,
                                             const std::string& system,
                                             const std::vector<int>& replicas) {
  plan::Plan plan{.system = system};
  const std::vector<LayerId> layers = layers_in_order(network);
  int next = 0;
  for (std::size_t s = 0; s < replicas.size(); ++s) {
    plan::Stage& stage = plan.stages.emplace_back();
    for (int i = 0; i < replicas[s]; ++i) stage.workers.push_back(WorkerId{next++});
    for (std::size_t i = layers.size() * s / replicas.size();
         i < layers.size() * (s + 1) / replicas.size(); ++i)
      stage.layers.push_back(layers[i]);
  }
  set_depths(plan);
  return plan;
}
// A plan as cut_in_order() makes it, with one worker per stage.
[[nodiscard]] inline plan::Plan cut_straight(const model::Network& network,
                                             const std::string& system, int stages) {
  return cut_in_order(network, system, std::vector<int>(static_cast<std::size_t>(stages), 1));
}

// Places the layers anew on the stages of `plan`. A layer is never placed before the stages of its
// inputs. `choose(least, stages)` must return a stage from `least` to `stages` − 1.
template <class Choose>
void place_layers(const model::Network& network, plan::Plan& plan, Choose choose) {
  std::vector<std::size_t> stage_of(network.graph.layers().size());
  for (plan::Stage& stage : plan.stages) stage.layers.clear();
  for (const LayerId layer : layers_in_order(network)) {
    std::size_t least = 0;
    for (const ValueId input : network.graph.layer(layer).inputs)
      least = std::max(least, stage_of[network.graph.value(input).producer.index()]);
    stage_of[layer.index()] = choose(least, plan.stages.size());
    plan.stages[stage_of[layer.index()]].layers.push_back(layer);
  }
}

// Places layers at random, so that stages are not runs of the graph's order.
inline void scatter_layers(const model::Network& network, std::uint32_t seed, plan::Plan& plan) {
  std::mt19937 random(seed);
  place_layers(network, plan, [&](std::size_t least, std::size_t stages) {
    // At most one stage after its inputs, and mostly in their stage, so that the late stages do not
    // get all layers.
    const std::size_t most = random() % 2 == 0 ? least + 1 : std::min(stages, least + 2);
    return least + random() % (most - least);
  });
}

// Assigns stage s to worker s mod `workers`.
inline void deal_out(plan::Plan& plan, int workers) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    plan.stages[s].workers = {WorkerId{static_cast<int>(s) % workers}};
}

}  // namespace pipedream::test
