#include "cost/depths.h"

#include <gtest/gtest.h>

#include "cost/system_rules_testing.h"

namespace pipedream::cost {
namespace {

using Depths = std::vector<int>;

std::vector<int> straight(int stages) {
  return std::vector<int>(static_cast<std::size_t>(stages), 1);
}

TEST(PipelineDepths, OfAStraightPipelineCountTheStagesFromHereToTheEnd) {
  EXPECT_EQ(pipeline_depths(straight(4), 1), (Depths{4, 3, 2, 1}));
  for (int n = 1; n <= 16; ++n) {
    const Depths depths = pipeline_depths(straight(n), 1);
    for (int i = 1; i <= n; ++i) EXPECT_EQ(depths[static_cast<std::size_t>(i - 1)], n - i + 1);
  }
}

TEST(PipelineDepths, WithSlackTwoGrowByTwoFromStageToStage) {
  EXPECT_EQ(pipeline_depths(straight(4), 2), (Depths{7, 5, 3, 1}));
  for (int n = 1; n <= 16; ++n) {
    const Depths depths = pipeline_depths(straight(n), 2);
    for (int i = 1; i <= n; ++i)
      EXPECT_EQ(depths[static_cast<std::size_t>(i - 1)], 2 * (n - i) + 1);
  }
}

TEST(PipelineDepths, OfFifteenAndOneIsTwoPerInputReplica) {
  EXPECT_EQ(pipeline_depths(std::vector<int>{15, 1}, 1), (Depths{2, 1}));
  EXPECT_EQ(pipeline_depths(std::vector<int>{15, 1}, 2), (Depths{3, 1}));
}

TEST(PipelineDepths, OfOneStageAreOneHoweverManyReplicasItHas) {
  EXPECT_EQ(pipeline_depths(std::vector<int>{16}, 1), (Depths{1}));
  EXPECT_EQ(pipeline_depths(std::vector<int>{16}, 2), (Depths{1}));
  EXPECT_EQ(pipeline_depths({}, 1), (Depths{}));
}

TEST(PipelineDepths, OfAnyReplicasShareTheItemsBehindThemRoundedUp) {
  // The middle stage has 1 + ceil(1·1/2) = 2, the first 1 + ceil(2·2/1) = 5. The paper's 4 is too
  // shallow.
  EXPECT_EQ(pipeline_depths(std::vector<int>{1, 2, 1}, 1), (Depths{5, 2, 1}));
  // 1 + ceil(4·1/2) = 3, 1 + ceil(2·3/3) = 3.
  EXPECT_EQ(pipeline_depths(std::vector<int>{3, 2, 4}, 1), (Depths{3, 3, 1}));
  // 1 + ceil(3·1/2) = 3: three replicas behind two are one and a half for each, rounded up.
  EXPECT_EQ(pipeline_depths(std::vector<int>{2, 3}, 1), (Depths{3, 1}));
  // 2 + ceil(3/1) = 5, 2 + ceil(1·5/2) = 5, 2 + ceil(2·5/4) = 5.
  EXPECT_EQ(pipeline_depths(std::vector<int>{4, 2, 1, 3}, 2), (Depths{5, 5, 5, 1}));
}

TEST(Noam, IsTheNumberOfWorkersFromTheStageOnOverItsReplicasRoundedUp) {
  for (int workers = 1; workers <= 32; ++workers)
    for (int replicas = 1; replicas <= workers; ++replicas) {
      int rounded_up = workers / replicas;
      if (rounded_up * replicas < workers) ++rounded_up;
      EXPECT_EQ(noam(workers - replicas, replicas), rounded_up);
    }
}

TEST(Noam, AgreesWithTheRecursionOnStraightPipelinesAndFifteenAndOne) {
  for (int n = 1; n <= 16; ++n) EXPECT_EQ(noam(n - 1, 1), pipeline_depths(straight(n), 1)[0]);
  EXPECT_EQ(noam(1, 15), 2);
  EXPECT_EQ(noam(3, 1), 4) << "of 1-2-1, where the recursion says 5";
}

TEST(ChosenDepths, AreThoseOfTheFormulaThatWasAskedFor) {
  const Depths replicas{1, 2, 1};
  EXPECT_EQ(chosen_depths(kPipedream.traits, replicas, {}), pipeline_depths(replicas, 1));
  EXPECT_EQ(chosen_depths(kPipedream.traits, replicas, {.slack = 2}), pipeline_depths(replicas, 2));
  EXPECT_EQ(chosen_depths(kPipedream.traits, replicas, {.depth = Depth::kNoam}),
            noam_depths(replicas));
  EXPECT_EQ(chosen_depths(kPipedream.traits, replicas, {.depth = Depth::kUpTo, .most = 9}),
            depths_up_to(replicas, 9));
}

TEST(ChosenDepths, CountReplicasThatShareItemsAsOne) {
  EXPECT_EQ(chosen_depths(kDapple.traits, {4, 2, 8}, {}), (Depths{3, 2, 1}));
}

}  // namespace
}  // namespace pipedream::cost
