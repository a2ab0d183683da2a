// Networks of the kinds that pipelines have to do with, small enough for hundreds of runs, and ways
// to cut them. Only *_test.cpp files include this.
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

// Convolutions, batch norm, residual connections, dropout: buffers and random numbers.
[[nodiscard]] inline model::Network small_resnet() {
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
    y = net.add(name + ".dropout", dropout_block(0.2), {y});
    x = net.add(name + ".add", add(), {y, x});
  }
  x = net.add("pool", average_pool2d_to(2), {x});
  x = net.add("flatten", flatten(), {x});
  x = net.add("fc", linear(16, 5), {x});
  const Wire labels = net.input("labels", {kBatch}, at::kLong, 5);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

// One value, "a", that six layers use, some of them beside each other in the order of layers: cut
// across that order, its gradients come from everywhere.
//
//   in ─▶ a ─▶ u0 ─▶ u1(+a) ─▶ … ─▶ u5(+a) ─▶ out
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

// One matrix that four layers use, the one that owns it and three behind it: tied weights.
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

// Those of `names` that a test is to run: all, or under a sanitizer, where each takes some four
// times as long, the quick ones, or one.
[[nodiscard]] inline std::vector<std::string> networks(std::vector<std::string> names) {
  if (!kSanitized) return names;
  const std::string last = names.back();
  std::erase_if(names, [](const std::string& name) {
    return name == "gnmt8" || name == "gpt" || name == "awd-lm";
  });
  if (names.empty()) names.push_back(last);
  return names;
}

// All that a test is to go through, or under a sanitizer the last.
template <class T>
[[nodiscard]] std::vector<T> all_or_last(std::vector<T> values) {
  if (kSanitized) values.erase(values.begin(), values.end() - 1);
  return values;
}

// All layers that a stage can have, in the order of the graph.
[[nodiscard]] inline std::vector<LayerId> layers_in_order(const model::Network& network) {
  std::vector<LayerId> layers = network.graph.order();
  std::erase_if(layers, [&](LayerId layer) { return network.graph.layer(layer).is_input; });
  return layers;
}

// d_S = 1, d_i = ⌈r_{i+1}·d_{i+1} / r_i⌉ + 1 (cost/depths.h).
inline void set_depths(plan::Plan& plan) {
  int behind = 0;
  for (std::size_t s = plan.stages.size(); s-- > 0;) {
    const int replicas = static_cast<int>(plan.stages[s].workers.size());
    plan.stages[s].depth = (behind + replicas - 1) / replicas + 1;
    behind = replicas * plan.stages[s].depth;
  }
}

// Runs of layers, as equal in number as can be, each on as many workers as said.
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
// One worker a stage.
[[nodiscard]] inline plan::Plan cut_straight(const model::Network& network,
                                             const std::string& system, int stages) {
  return cut_in_order(network, system, std::vector<int>(static_cast<std::size_t>(stages), 1));
}

// The same workers, but each layer in a stage that is not before those of its inputs:
// choose(least, stages) is one of least … stages − 1.
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

// Stages that are no runs of the graph's order.
inline void scatter_layers(const model::Network& network, std::uint32_t seed, plan::Plan& plan) {
  std::mt19937 random(seed);
  place_layers(network, plan, [&](std::size_t least, std::size_t stages) {
    // Mostly where its inputs are, so that late stages do not get it all.
    const std::size_t most = random() % 2 == 0 ? least + 1 : std::min(stages, least + 2);
    return least + random() % (most - least);
  });
}

// Stages dealt out to so many workers in turn.
inline void deal_out(plan::Plan& plan, int workers) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    plan.stages[s].workers = {WorkerId{static_cast<int>(s) % workers}};
}

}  // namespace pipedream::test
