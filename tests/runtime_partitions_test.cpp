// The distribution of layers over stages changes no bit. Even if one value has many users in many
// stages, the sum of their gradients is that of a plain loop.
#include <gtest/gtest.h>

#include "runtime/gradient_order.h"
#include "runtime_cases_testing.h"

namespace pipedream::test {
namespace {

constexpr std::int64_t kFewMinibatches = 6;

bool has_mixed_sums(const model::Network& network, const plan::Plan& plan) {
  const runtime::GradientOrder order(network.graph, plan::stage_of_each_layer(plan, network.graph));
  for (std::size_t v = 0; v < network.graph.values().size(); ++v)
    if (order.is_mixed(id_at<ValueId>(v))) return true;
  return false;
}

// Whether some stage contributes more than one term to the gradient sum of a value that another
// stage computes.
bool has_terms_apart(const model::Network& network, const plan::Plan& plan) {
  const auto stage_of = plan::stage_of_each_layer(plan, network.graph);
  const runtime::GradientOrder order(network.graph, stage_of);
  for (std::size_t v = 0; v < network.graph.values().size(); ++v)
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
      if (id_at<StageId>(s) != stage_of[network.graph.values()[v].producer.index()] &&
          order.terms_from(id_at<ValueId>(v), id_at<StageId>(s)) > 1)
        return true;
  return false;
}

struct Seen {
  int mixed = 0;
  int apart = 0;
  int runs = 0;
};

// Scatters the layers over two to four stages in many ways and expects the weights of plain
// training each time. Returns how many runs had which kinds of gradient sums.
Seen expect_no_bit_changes(const std::string& name, const std::string& system, bool recompute) {
  Seen seen;
  const model::Network network = small_network(name);
  std::optional<runtime::Weights> plain;
  std::uint32_t ways = name == "many uses" || name == "tied" ? 60 : 12;
  if (kSanitized) ways /= 4;
  for (std::uint32_t seed = 0; seed < ways; ++seed) {
    SCOPED_TRACE(name + ", " + system + ", seed " + std::to_string(seed));
    plan::Plan plan = cut_straight(network, system, 2 + static_cast<int>(seed) % 3);
    scatter_layers(network, seed, plan);
    plan.microbatches = system == "mp" ? 1 : 2;
    for (plan::Stage& stage : plan.stages) stage.recompute = recompute;
    const Case test(small_network(name), plan, {.minibatches = kFewMinibatches});
    if (!plain) plain = test.trained_by(newest_weights());
    const runtime::TestRun run = test.run();
    expect_same(run.weights, *plain);
    expect_as_scheduled(run, test.schedule, test.network, test.plan);
    seen.mixed += has_mixed_sums(network, plan) ? 1 : 0;
    seen.apart += has_terms_apart(network, plan) ? 1 : 0;
    ++seen.runs;
    if (testing::Test::HasFailure()) break;
  }
  return seen;
}

TEST(RuntimePartitions, StagesNeedNotBeRunsOfTheOrderOfLayers) {
  Seen all;
  for (const std::string& name : networks({"many uses", "tied", "resnet", "gnmt8"}))
    for (const std::string system : {"mp", "gpipe", "dapple"}) {
      const Seen seen = expect_no_bit_changes(name, system, system == "gpipe");
      all.mixed += seen.mixed;
      all.apart += seen.apart;
      all.runs += seen.runs;
    }
  std::printf("%d runs: %d with mixed sums, %d with terms apart\n", all.runs, all.mixed, all.apart);
  EXPECT_GT(all.mixed, all.runs / 10);
  EXPECT_GT(all.apart, all.runs / 20);
}

// The promise holds in bfloat16 too, although its numbers are coarser.
TEST(RuntimePartitions, Bfloat16ComputesTheSameHoweverLayersAreCut) {
  for (const std::string& name : networks({"mlp", "resnet", "gnmt8", "gpt"})) {
    std::optional<runtime::Weights> whole;
    for (const int stages : {1, 2, 3}) {
      SCOPED_TRACE(name + ", stages: " + std::to_string(stages));
      model::Network network = small_network(name);
      const plan::Plan plan = cut_straight(network, "gpipe", stages);
      const Case test(std::move(network), plan, {.minibatches = 3});
      runtime::Job job = test.job();
      job.precision = model::Precision::kBfloat16;
      const auto run = runtime::run_schedule(job, test.schedule, test.extent, test.feed);
      if (!whole) whole = run.weights;
      expect_same(run.weights, *whole);
      EXPECT_FALSE(are_same(run.weights, test.run().weights)) << "these are float's";
    }
  }
}

TEST(RuntimePartitions, WeightStashingGoesByStagesHoweverTheyAreCut) {
  for (const std::string& name : networks({"many uses", "tied", "gnmt8"}))
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(name + ", seed " + std::to_string(seed));
      model::Network network = small_network(name);
      const int stages = 2 + static_cast<int>(seed) % 3;
      plan::Plan plan = cut_straight(network, "pipedream", stages);
      scatter_layers(network, seed, plan);
      expect_rule(Case(std::move(network), plan, {.minibatches = kFewMinibatches}),
                  weight_stashing(stages));
    }
}

// GNMT's attention context feeds every decoder layer above it.
TEST(RuntimePartitions, OneContextGoesToSeveralStagesWithSeveralUsersInOne) {
  const model::Network network = small_network("gnmt8");
  const ValueId context =
      network.graph.layer(network.graph.find("decoder.att_rnn.attn").value()).outputs[0];
  const std::vector<std::string> first_of_stage{"decoder.rnn_layers.0.concat",
                                                "decoder.rnn_layers.2.concat"};
  for (const std::string system : {"gpipe", "pipedream"}) {
    plan::Plan plan{.system = system, .microbatches = system == "gpipe" ? 4 : 1};
    plan.stages.resize(3);
    std::size_t stage = 0;
    for (const LayerId layer : layers_in_order(network)) {
      if (stage < 2 && network.graph.layer(layer).name == first_of_stage[stage]) ++stage;
      plan.stages[stage].layers.push_back(layer);
    }
    for (std::size_t s = 0; s < 3; ++s) plan.stages[s].workers = {id_at<WorkerId>(s)};
    set_depths(plan);
    const runtime::GradientOrder order(network.graph,
                                       plan::stage_of_each_layer(plan, network.graph));
    EXPECT_EQ(order.terms_from(context, {1}), 2u);
    EXPECT_EQ(order.terms_from(context, {2}), 1u);
    expect_rule(Case(small_network("gnmt8"), plan, {.minibatches = 20}),
                system == "gpipe" ? newest_weights() : weight_stashing(3));
  }
}

// The logits have a user besides the loss, and one branch leads nowhere.
TEST(RuntimePartitions, WhatTheLossReadsMayHaveOtherUsers) {
  using namespace model;
  for (const int stages : {1, 2}) {
    NetworkBuilder net("dead end", kBatch);
    Wire x = net.input("features", {kBatch, 6}, at::kFloat);
    x = net.add("one", linear(6, 6), {x});
    x = net.add("two", linear(6, 4), {x});
    (void)net.add("nowhere", linear(4, 3), {x});
    const Wire labels = net.input("labels", {kBatch}, at::kLong, 4);
    Network network = std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
    plan::Plan plan = cut_straight(network, "mp", stages);
    expect_rule(Case(std::move(network), plan, {.minibatches = 3}), newest_weights());
  }
}

// A layer that uses its input twice. It gives two gradients for it, which autograd adds one by one.
model::Block times_its_sigmoid() {
  return {.kind = "x·sigmoid(x)",
          .infer = [](std::span<const model::TensorType> inputs) { return inputs[0]; },
          .forward = [](const model::Tensors& x, const model::Weights&,
                        const model::Pass&) { return x[0] * x[0].sigmoid(); }};
}

// If the gradients of such a layer come first in a sum, they are added one by one in any stage.
TEST(RuntimePartitions, ALayerThatBeginsTheSumMayUseItsInputTwice) {
  using namespace model;
  for (const int stages : {1, 2, 3, 4}) {
    SCOPED_TRACE(stages);
    NetworkBuilder net("twice", kBatch);
    Wire x = net.input("features", {kBatch, 12}, at::kFloat);
    x = net.add("one", linear(12, 12), {x});
    const Wire a = net.add("a", times_its_sigmoid(), {x});
    const Wire b = net.add("b", times_its_sigmoid(), {x});
    const Wire c = net.add("c", times_its_sigmoid(), {x});
    Wire y = net.add("ab", add(), {a, b});
    y = net.add("abc", add(), {y, c});
    y = net.add("two", linear(12, 4), {y});
    const Wire labels = net.input("labels", {kBatch}, at::kLong, 4);
    Network network = std::move(net).build(net.add("loss", cross_entropy(), {y, labels}));
    plan::Plan plan = cut_straight(network, "mp", stages);
    expect_rule(Case(std::move(network), plan, {.minibatches = 10}), newest_weights());
  }
}

}  // namespace
}  // namespace pipedream::test
