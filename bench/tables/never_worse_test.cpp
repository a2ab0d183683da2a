#include "tables/never_worse.h"

#include <gtest/gtest.h>

#include "systems/choice.h"

namespace pipedream::bench {
namespace {

using systems::kAsFast;

// A comparison in which every plan takes 1 s per minibatch.
Comparison all_alike() {
  const TimedPlan second{"4", 1};
  return {"model", "cluster", "dp-bsp", second, "dp-bsp", second,
          second,  second,    second,   second, second,   second};
}

TEST(BetterOnes, AreNoneAmongEquals) {
  EXPECT_EQ(better_ones(all_alike()), std::vector<std::string>{});
}

TEST(BetterOnes, AreNamed) {
  const TimedPlan faster{"3-1", 0.9};
  const auto with = [&](std::optional<TimedPlan> Comparison::*which) {
    Comparison comparison = all_alike();
    comparison.*which = faster;
    return better_ones(comparison);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(with(&Comparison::data_parallel),
            (Names{"data parallelism", "data parallelism, exact"}));
  EXPECT_EQ(with(&Comparison::dapple), (Names{"DAPPLE", "DAPPLE, exact"}));
  EXPECT_EQ(with(&Comparison::ours), Names{"pipedream"});
  EXPECT_EQ(with(&Comparison::straight), Names{"the straight pipeline"});
  EXPECT_EQ(with(&Comparison::hierarchical), Names{"the hierarchical planner"});
  EXPECT_EQ(with(&Comparison::all_but_one), Names{"all but one"});
  EXPECT_EQ(with(&Comparison::best), Names{});
  EXPECT_EQ(with(&Comparison::speedy), Names{});
}

TEST(BetterOnes, WithStaleWeightsAreAQuarterFaster) {
  Comparison comparison = all_alike();
  comparison.best->seconds = 1.26;
  comparison.data_parallel = comparison.dapple = comparison.best;
  EXPECT_EQ(better_ones(comparison), std::vector<std::string>{});
  comparison.best->seconds = 1.27;
  comparison.data_parallel = comparison.dapple = comparison.best;
  EXPECT_EQ(better_ones(comparison), std::vector<std::string>{"pipedream by a quarter"});
}

TEST(BetterOnes, AreAllThatFitWhereOursDoesNot) {
  Comparison comparison = all_alike();
  comparison.ours.reset();
  EXPECT_EQ(better_ones(comparison),
            (std::vector<std::string>{"the straight pipeline", "the hierarchical planner",
                                      "all but one"}));
  comparison = {.model = "model", .cluster = "cluster"};
  EXPECT_EQ(better_ones(comparison), std::vector<std::string>{});
}

TEST(BetterOnes, DifferByMoreThanTwoPercent) {
  Comparison comparison = all_alike();
  comparison.straight->seconds = 0.985;
  EXPECT_EQ(better_ones(comparison), std::vector<std::string>{});
  comparison.straight->seconds = 0.975;
  EXPECT_EQ(better_ones(comparison), std::vector<std::string>{"the straight pipeline"});
}

TEST(BetterOnes, AreNotThoseThatAutoCountsAsEqual) {
  Comparison comparison = all_alike();
  comparison.ours->seconds = 1 / (1 + 0.9 * (kAsFast - 1));
  comparison.straight = comparison.hierarchical = comparison.all_but_one = comparison.ours;
  EXPECT_EQ(better_ones(comparison), std::vector<std::string>{});
  comparison.ours->seconds = 1 / (1 + 1.1 * (kAsFast - 1));
  EXPECT_EQ(better_ones(comparison), std::vector<std::string>{"pipedream"});
}

}  // namespace
}  // namespace pipedream::bench
