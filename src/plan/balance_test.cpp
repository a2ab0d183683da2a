#include "plan/balance.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "cost/system_rules_testing.h"

namespace pipedream::plan {
namespace {

using test::message_of;
using Ends = std::vector<std::size_t>;

std::vector<std::size_t> split(const std::vector<std::int64_t>& sizes, int blocks) {
  return balanced_split(sizes, blocks);
}

TEST(BalancedSplit, OfOneBlockHasNoCut) {
  EXPECT_EQ(split({7}, 1), Ends{});
  EXPECT_EQ(split({7, 7, 7}, 1), Ends{});
}

TEST(BalancedSplit, OfAsManyBlocksAsElementsCutsEverywhere) {
  EXPECT_EQ(split({9, 0, 1, 5}, 4), (Ends{1, 2, 3}));
}

TEST(BalancedSplit, MakesTheLargestBlockAsSmallAsItCanBe) {
  EXPECT_EQ(split({1, 2, 3, 4, 5, 6}, 2), (Ends{4})) << "10 and 11";
  EXPECT_EQ(split({1, 2, 3, 4, 5, 6}, 3), (Ends{3, 5})) << "6, 9 and 6";
  EXPECT_EQ(split({9, 1, 1, 1, 1}, 2), (Ends{1})) << "9 and 4";
  EXPECT_EQ(split({1, 1, 1, 1, 9}, 3), (Ends{3, 4})) << "3, 1 and 9: the 9 alone";
}

// The splits 2|1 and 1|2 have the same largest block.
TEST(BalancedSplit, OfEqualsFillsTheFirstBlocks) {
  EXPECT_EQ(split({1, 1, 1}, 2), (Ends{2}));
  EXPECT_EQ(split({1, 1, 1, 1, 1}, 3), (Ends{2, 4}));
  EXPECT_EQ(split({1, 1, 1, 1, 1, 5}, 3), (Ends{4, 5})) << "up to 5, but none stays empty";
  EXPECT_EQ(split({5, 0, 0, 0}, 2), (Ends{3}));
  EXPECT_EQ(split({0, 0, 0, 0}, 3), (Ends{2, 3}));
}

TEST(BalancedSplit, KeepsSumsBeyondThirtyTwoBits) {
  const std::int64_t big = std::int64_t{1} << 50;
  EXPECT_EQ(split({big, big, 2 * big, 1}, 2), (Ends{2}));
  EXPECT_EQ(split({big, big, 2 * big + 1, 1}, 3), (Ends{2, 3}));
}

TEST(BalancedSplit, MustHaveAnElementForEachBlock) {
  EXPECT_DEATH((void)split({1, 2}, 3), "blocks");
  EXPECT_DEATH((void)split({1, 2}, 0), "blocks");
}

struct Layer {
  int time;  // of the forward in layers 0, 2, …, of the backward in layers 1, 3, …
  int weights = 0;
  int bytes = 0;  // of the layer's output
  int stash = 0;
};

// A chain of layers on workers that send one byte per nanosecond, with all that a planner needs.
struct Problem {
  Problem(const std::vector<Layer>& layers, int workers,
          Setting setting = {.rules = cost::kPipedream})
      : profile(chain(layers)),
        cluster{"test",
                {{"level", workers, Bandwidth{1e9}}},
                std::vector<cluster::Device>(static_cast<std::size_t>(workers), {Bytes{1 << 30}})},
        predictor(cuts, cluster, setting) {}

  static profile::Profile chain(const std::vector<Layer>& layers) {
    profile::Profile profile;
    graph::Builder builder;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const LayerId layer =
          builder.add_layer("layer" + std::to_string(i), "", {{"out", {}, Bytes{layers[i].bytes}}});
      if (i > 0) builder.add_edge(id_at<LayerId>(i - 1), 0, layer);
      profile::LayerCost cost{.weights = Bytes{layers[i].weights}, .stash = Bytes{layers[i].stash}};
      (i % 2 == 0 ? cost.forward : cost.backward) = Nanos(layers[i].time);
      profile.costs.push_back(cost);
    }
    profile.graph = std::move(builder).build();
    return profile;
  }

  profile::Profile profile;
  cluster::Cluster cluster;
  Cuts cuts = Cuts::in_declared_order(profile);
  Predictor predictor;
};

Ends ends_of(const Outcome& outcome) { return std::get<Answer>(outcome).layout.ends; }

TEST(BalancedEnds, AreTheCutsOfTheLayersWithBothEnds) {
  const Problem problem({{5}, {1}, {1}, {5}}, 4);
  EXPECT_EQ(balanced_ends(problem.predictor, Balance::kTime, 1), (Ends{0, 4}));
  EXPECT_EQ(balanced_ends(problem.predictor, Balance::kTime, 2), (Ends{0, 2, 4}));
  EXPECT_EQ(balanced_ends(problem.predictor, Balance::kTime, 3), (Ends{0, 1, 3, 4}));
}

TEST(BalancedEnds, ByTimeCountUpdates) {
  Problem problem({{5}, {5}, {5}, {5}}, 2);
  EXPECT_EQ(balanced_ends(problem.predictor, Balance::kTime, 2), (Ends{0, 2, 4}));
  problem.profile.costs[3].update = Nanos(10);
  EXPECT_EQ(balanced_ends(problem.predictor, Balance::kTime, 2), (Ends{0, 3, 4}));
}

TEST(BalancedEnds, CountLayersThatTakeNoTimeAsLayers) {
  const Problem problem({{5}, {0}, {0}, {5}}, 4);
  EXPECT_EQ(balanced_ends(problem.predictor, Balance::kTime, 4), (Ends{0, 1, 2, 3, 4}));
}

TEST(BalancedEnds, BySizeHoldWeightsTheirGradientsAndStateAndWhatIsKept) {
  const std::vector<Layer> layers{{9, 10}, {9, 0, 25}, {1, 0, 0, 25}};
  const Problem plain(layers, 2, {.rules = cost::kPipedream, .optimiser_copies = 0});  // 20, 25, 25
  EXPECT_EQ(balanced_ends(plain.predictor, Balance::kSize, 2), (Ends{0, 2, 3}));
  const Problem momentum(layers, 2,
                         {.rules = cost::kPipedream, .optimiser_copies = 1});  // 30, 25, 25
  EXPECT_EQ(balanced_ends(momentum.predictor, Balance::kSize, 2), (Ends{0, 1, 3}));
  EXPECT_EQ(balanced_ends(plain.predictor, Balance::kTime, 2), (Ends{0, 1, 3}));
}

// Few bytes cross in the middle. Two stages take 8 ns and one takes 16 ns. Three and more wait for
// transfers of 50 ns.
const std::vector<Layer> kNarrowInTheMiddle{{4, 0, 50}, {4, 0, 1}, {4, 0, 50}, {4, 0, 0}};

TEST(PlanBalanced, TakesTheFastestNumberOfStages) {
  const Problem problem(kNarrowInTheMiddle, 4);
  const Outcome outcome = best_of(plan_balanced(problem.predictor, Balance::kTime, {1, 4}));
  const auto& answer = std::get<Answer>(outcome);
  EXPECT_EQ(answer.layout.ends, (Ends{0, 2, 4}));
  EXPECT_EQ(answer.layout.workers, (std::vector<std::vector<WorkerId>>{{{0}}, {{1}}}));
  EXPECT_NEAR(answer.objective.count(), 8e-9, 1e-18);
  EXPECT_EQ(answer.objective, answer.prediction.per_minibatch);
}

TEST(PlanBalanced, StaysInTheRangeThatIsAskedFor) {
  const Problem problem(kNarrowInTheMiddle, 4);
  const auto with = [&](int fewest, int most) {
    return ends_of(best_of(plan_balanced(problem.predictor, Balance::kTime, {fewest, most})));
  };
  EXPECT_EQ(with(1, 1), (Ends{0, 4}));
  EXPECT_EQ(with(3, 3), (Ends{0, 2, 3, 4}));
  EXPECT_EQ(with(4, 4), (Ends{0, 1, 2, 3, 4}));
  EXPECT_EQ(with(3, 4), (Ends{0, 2, 3, 4})) << "of equals the fewest";
}

TEST(PlanBalanced, MakesNoMoreStagesThanThereAreLayersOrWorkers) {
  const Problem few_layers({{1}, {1}}, 4);
  EXPECT_EQ(ends_of(best_of(plan_balanced(few_layers.predictor, Balance::kTime, {4, 4}))),
            (Ends{0, 1, 2}));
  const Problem few_workers({{1}, {1}, {1}, {1}}, 3);
  EXPECT_EQ(ends_of(best_of(plan_balanced(few_workers.predictor, Balance::kTime, {4, 4}))),
            (Ends{0, 2, 3, 4}));
  const Problem one_worker({{1}, {1}, {1}, {1}}, 1);
  EXPECT_EQ(ends_of(best_of(plan_balanced(one_worker.predictor, Balance::kTime, {2, 4}))),
            (Ends{0, 4}));
}

TEST(PlanBalanced, BalancesTimesOrSizes) {
  const Problem problem({{1, 90}, {1, 10}, {1, 10}, {9, 10}}, 2);
  const auto by = [&](Balance balance) {
    return ends_of(best_of(plan_balanced(problem.predictor, balance, {2, 2})));
  };
  EXPECT_EQ(by(Balance::kTime), (Ends{0, 3, 4}));
  EXPECT_EQ(by(Balance::kSize), (Ends{0, 1, 4}));
}

// One minibatch runs at a time, so that fewer stages are faster. Only weights and gradients take
// memory.
Setting one_at_a_time(int memory) {
  return {.rules = cost::kModelParallel, .memory = Bytes{memory}, .optimiser_copies = 0};
}
const std::vector<Layer> kHeavy{{1, 100, 0}, {1, 100, 0}, {1, 100, 0}, {1, 100, 0}};

TEST(PlanBalanced, PrefersWhatFitsToWhatIsFaster) {
  const Problem two(kHeavy, 4, one_at_a_time(400));
  EXPECT_EQ(ends_of(best_of(plan_balanced(two.predictor, Balance::kTime, {1, 4}))),
            (Ends{0, 2, 4}));
  const Problem four(kHeavy, 4, one_at_a_time(399));
  EXPECT_EQ(ends_of(best_of(plan_balanced(four.predictor, Balance::kTime, {1, 4}))),
            (Ends{0, 1, 2, 3, 4}));
}

TEST(PlanBalanced, RefusesWithTheSmallestMissWhereNothingFits) {
  const Problem problem(kHeavy, 3, one_at_a_time(150));
  const Outcome outcome = best_of(plan_balanced(problem.predictor, Balance::kTime, {1, 3}));
  const auto& refusal = std::get<Refusal>(outcome);
  EXPECT_EQ(refusal.nearest.value().bytes, Bytes{400 - 150});
  EXPECT_EQ(refusal.nearest.value().stage, StageId{0});
  EXPECT_EQ(refusal.why,
            "no plan fits the memory: the best attempt misses by 250 B (250 bytes) on stage 0");
}

Ends ends_of_split(const Problem& problem, const std::vector<int>& split) {
  return ends_of(plan_split(problem.predictor, split));
}

TEST(PlanSplit, CutsWhereTheUserSays) {
  const Problem problem({{1}, {1}, {1}, {1}, {1}}, 3);
  EXPECT_EQ(ends_of_split(problem, {1, 4}), (Ends{0, 1, 4, 5}));
  EXPECT_EQ(ends_of_split(problem, {2}), (Ends{0, 2, 5}));
  EXPECT_EQ(ends_of_split(problem, {}), (Ends{0, 5}));
  const Outcome outcome = plan_split(problem.predictor, std::vector{1, 4});
  EXPECT_EQ(std::get<Answer>(outcome).layout.workers,
            (std::vector<std::vector<WorkerId>>{{{0}}, {{1}}, {{2}}}));
}

TEST(PlanSplit, RefusesNumbersThatDoNotAscendOrAreOutOfRange) {
  const Problem problem({{1}, {1}, {1}, {1}, {1}}, 4);
  const auto refusal = [&](const std::vector<int>& split) {
    return message_of<BadValue>([&] { (void)plan_split(problem.predictor, split); });
  };
  EXPECT_EQ(refusal({0}), "`split`: wanted ascending numbers of layers from 1 to 4, found 0");
  EXPECT_EQ(refusal({-3}), "`split`: wanted ascending numbers of layers from 1 to 4, found -3");
  EXPECT_EQ(refusal({5}), "`split`: wanted ascending numbers of layers from 1 to 4, found 5");
  EXPECT_EQ(refusal({2, 2}),
            "`split`: wanted ascending numbers of layers from 1 to 4, found 2 after 2");
  EXPECT_EQ(refusal({1, 3, 2}),
            "`split`: wanted ascending numbers of layers from 1 to 4, found 2 after 3");
}

TEST(PlanSplit, RefusesMoreStagesThanWorkers) {
  const Problem problem({{1}, {1}, {1}, {1}, {1}}, 2);
  EXPECT_EQ(ends_of_split(problem, {3}), (Ends{0, 3, 5}));
  EXPECT_EQ(message_of<BadValue>([&] {
              (void)plan_split(problem.predictor, std::vector{1, 2});
            }),
            "`split`: wanted at most 2 stages, one per worker, found 3");
}

TEST(PlanSplit, RefusesASplitThatDoesNotFitTheMemory) {
  const Problem problem(kHeavy, 2, one_at_a_time(400));
  EXPECT_EQ(ends_of_split(problem, {2}), (Ends{0, 2, 4}));
  const Outcome outcome = plan_split(problem.predictor, std::vector{1});
  EXPECT_EQ(std::get<Refusal>(outcome).why,
            "no plan fits the memory: the best attempt misses by 200 B (200 bytes) on stage 1");
}

}  // namespace
}  // namespace pipedream::plan
