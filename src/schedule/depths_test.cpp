#include "schedule/depths.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

std::vector<int> depths(const std::vector<int>& replicas, const std::vector<int>& wanted,
                        Replicas kind = Replicas::kTakeTurns) {
  return runnable_depths(plan_of(replicas, wanted), kind);
}

TEST(RunnableDepths, KeepWhatAPlannerChooses) {
  EXPECT_EQ(depths({1, 1, 1}, {3, 2, 1}), (std::vector<int>{3, 2, 1}));
  EXPECT_EQ(depths({1, 1, 1}, {5, 3, 1}), (std::vector<int>{5, 3, 1}));
  EXPECT_EQ(depths({15, 1}, {2, 1}), (std::vector<int>{2, 1}));
  EXPECT_EQ(depths({1, 3}, {4, 1}), (std::vector<int>{4, 1}));
}

TEST(RunnableDepths, AStageIsNoDeeperThanTheOnesBeforeLetThrough) {
  EXPECT_EQ(depths({1, 1, 1}, {1, 2, 3}), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(depths({1, 1, 1}, {3, 1, 2}), (std::vector<int>{3, 1, 1}));
  EXPECT_EQ(depths({2, 1}, {1, 3}), (std::vector<int>{1, 2})) << "two replicas pass on two";
  EXPECT_EQ(depths({1, 2}, {3, 3}), (std::vector<int>{3, 2})) << "(2 − 1)·2 + 1 = 3 items";
  EXPECT_EQ(depths({1, 2}, {2, 3}), (std::vector<int>{2, 1}));
}

TEST(RunnableDepths, ReplicasThatShareEveryItemCountAsOne) {
  EXPECT_EQ(depths({2, 1}, {1, 3}, Replicas::kShareItems), (std::vector<int>{1, 1}));
  EXPECT_EQ(depths({1, 2}, {3, 3}, Replicas::kShareItems), (std::vector<int>{3, 3}));
}

TEST(RunnableDepths, AreAtLeastOne) {
  EXPECT_EQ(depths({1, 1}, {0, -3}), (std::vector<int>{1, 1}));
}

TEST(RunnableDepths, OfNoStagesAreNone) { EXPECT_EQ(depths({}, {}), std::vector<int>{}); }

}  // namespace
}  // namespace pipedream::schedule
