#include "systems/comparison.h"

#include <gtest/gtest.h>

namespace pipedream::systems {
namespace {

// Returns a chain of eight equal layers, 1 ms forward and 2 ms backward each.
profile::Profile chain(std::int64_t weights) {
  graph::Builder builder;
  profile::Profile profile;
  profile.batch = 64;
  builder.add_input("data", {{"out", {}, Bytes{0}}});
  profile.costs.emplace_back();
  for (int i = 0; i < 8; ++i) {
    builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{100}}});
    builder.add_edge(LayerId{i}, 0, LayerId{i + 1});
    profile.costs.push_back({.forward = std::chrono::milliseconds(1),
                             .backward = std::chrono::milliseconds(2),
                             .weights = Bytes{weights}});
  }
  profile.graph = std::move(builder).build();
  return profile;
}

cluster::Cluster four_workers(double bandwidth, std::int64_t memory = 1 << 30) {
  return {"flat",
          {{.name = "server", .count = 4, .bandwidth = {bandwidth}}},
          std::vector<cluster::Device>(4, {Bytes{memory}, 1})};
}

TEST(CompareSystems, PlansAndSimulatesEveryOne) {
  const profile::Profile profile = chain(1000);
  const Model model(profile);
  const SimulatedChoice found = compare_systems(model, four_workers(1e6), {}, {});
  ASSERT_EQ(found.candidates.size(), all_systems().size());
  for (std::size_t i = 0; i < found.candidates.size(); ++i) {
    const SimulatedCandidate& candidate = found.candidates[i];
    EXPECT_EQ(candidate.system, &all_systems()[i]);
    ASSERT_TRUE(candidate.simulated.has_value()) << candidate.system->name;
    EXPECT_GT(candidate.simulated->minibatches_per_second, 0);
    // The simulated speed is close to the predicted one.
    const double predicted = 1 / std::get<Planned>(candidate.result).times.predicted.count();
    const double ratio = candidate.simulated->minibatches_per_second / predicted;
    EXPECT_GT(ratio, 0.8) << candidate.system->name;
    EXPECT_LT(ratio, 1.25) << candidate.system->name;
  }
}

TEST(CompareSystems, ChoosesAsAutoDoes) {
  for (const double bandwidth : {1e4, 1e6, 1e9}) {
    const profile::Profile profile = chain(1000);
    const Model model(profile);
    const SimulatedChoice found = compare_systems(model, four_workers(bandwidth), {}, {});
    EXPECT_EQ(found.chosen, plan_for_all(model, four_workers(bandwidth), {}).best);
    ASSERT_TRUE(found.chosen.has_value());
    EXPECT_TRUE(found.candidates[*found.chosen].system->preference.has_value());
  }
}

TEST(CompareSystems, KnowsDataParallelismToCompareWith) {
  const profile::Profile profile = chain(1000);
  const Model model(profile);
  const SimulatedChoice found = compare_systems(model, four_workers(1e9), {}, {});
  ASSERT_NE(found.data_parallel(), nullptr);
  EXPECT_EQ(found.data_parallel()->samples_per_update, 4 * 64);
}

// Weights, gradients and optimiser state of all eight layers take 24,000 bytes, twice the memory of
// a worker. Those of a quarter of the layers fit.
TEST(CompareSystems, WhatDoesNotFitIsNotSimulated) {
  const profile::Profile profile = chain(1000);
  const Model model(profile);
  const SimulatedChoice found = compare_systems(model, four_workers(1e9, 12'000), {}, {});
  EXPECT_EQ(found.data_parallel(), nullptr);
  bool one_fits = false;
  for (const SimulatedCandidate& candidate : found.candidates) {
    EXPECT_EQ(candidate.simulated.has_value(), std::holds_alternative<Planned>(candidate.result))
        << candidate.system->name;
    one_fits = one_fits || candidate.simulated;
  }
  EXPECT_TRUE(one_fits);
}

TEST(CompareSystems, EverySimulatedPlanFitsTheMemoryItWasPlannedFor) {
  const profile::Profile profile = chain(1000);
  const Model model(profile);
  for (const std::int64_t memory : {8'000, 12'000, 20'000, 40'000})
    for (const SimulatedCandidate& candidate :
         compare_systems(model, four_workers(1e6, memory), {}, {}).candidates) {
      if (!candidate.simulated) continue;
      for (const Bytes used : candidate.simulated->memory)
        EXPECT_LE(used, Bytes{memory}) << candidate.system->name;
    }
}

TEST(CompareSystems, ConditionsReachTheSimulation) {
  const profile::Profile profile = chain(10);
  const Model model(profile);
  const SimulationWishes slow{.conditions = {.stragglers = {{WorkerId{0}, 0.5}}}};
  const SimulatedChoice fast = compare_systems(model, four_workers(1e9), {}, {});
  const SimulatedChoice slowed = compare_systems(model, four_workers(1e9), {}, slow);
  EXPECT_NEAR(slowed.data_parallel()->minibatches_per_second,
              fast.data_parallel()->minibatches_per_second / 2, 1);
}

}  // namespace
}  // namespace pipedream::systems
