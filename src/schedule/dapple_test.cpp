#include "schedule/dapple.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

TEST(Dapple, TwoStagesAndThreeMicrobatchesOfPolicyALookAsInTheHeader) {
  EXPECT_EQ(pictures_of(dapple(plan_of({1, 1}, {2, 1}), {1, 3, 3})),
            (Texts{"F0 F0.1 B0 F0.2 B0.1 B0.2 U", "F0 B0 F0.1 B0.1 F0.2 B0.2 U"}));
}

TEST(Dapple, PolicyBRunsMoreForwardsBeforeTheFirstBackward) {
  EXPECT_EQ(pictures_of(dapple(plan_of({1, 1, 1}, {5, 3, 1}), {1, 6, 6})),
            (Texts{"F0 F0.1 F0.2 F0.3 F0.4 B0 F0.5 B0.1 B0.2 B0.3 B0.4 B0.5 U",
                   "F0 F0.1 F0.2 B0 F0.3 B0.1 F0.4 B0.2 F0.5 B0.3 B0.4 B0.5 U",
                   "F0 B0 F0.1 B0.1 F0.2 B0.2 F0.3 B0.3 F0.4 B0.4 F0.5 B0.5 U"}));
}

TEST(Dapple, ReplicasShareEveryMicrobatchAndAverageAtTheEnd) {
  const Schedule schedule = dapple(plan_of({2, 1}, {2, 1}), {1, 3, 3});
  EXPECT_EQ(pictures_of(schedule),
            (Texts{"F0 F0.1 B0 F0.2 B0.1 B0.2 X1 A1 U", "F0 F0.1 B0 F0.2 B0.1 B0.2 X1 A1 U",
                   "F0 B0 F0.1 B0.1 F0.2 B0.2 U"}));
  EXPECT_EQ(schedule.rules.traits.replicas, Replicas::kShareItems);
}

TEST(Dapple, AStageThatRecomputesRunsEachForwardAgainRightBeforeItsBackward) {
  plan::Plan plan = plan_of({1, 1}, {2, 1});
  plan.stages[0].recompute = true;
  EXPECT_EQ(pictures_of(dapple(plan, {1, 3, 3})),
            (Texts{"F0 F0.1 C0 B0 F0.2 C0.1 B0.1 C0.2 B0.2 U", "F0 B0 F0.1 B0.1 F0.2 B0.2 U"}));
}

TEST(Dapple, FewerMicrobatchesThanTheDepthNeverFillThePipeline) {
  EXPECT_EQ(pictures_of(dapple(plan_of({1, 1, 1}, {3, 2, 1}), {1, 2, 2})),
            (Texts{"F0 F0.1 B0 B0.1 U", "F0 F0.1 B0 B0.1 U", "F0 B0 F0.1 B0.1 U"}));
}

TEST(Dapple, EveryMinibatchUsesTheNextVersionAndAShortLastOneHasFewerMicrobatches) {
  EXPECT_EQ(texts_of(dapple(plan_of({1, 1}, {2, 1}), {2, 3, 2})),
            (Texts{"F0@0 F0.1@0 B0@0 F0.2@0 B0.1@0 B0.2@0 U0>1 F1@1 F1.1@1 B1@1 B1.1@1 U1>2",
                   "F0@0 B0@0 F0.1@0 B0.1@0 F0.2@0 B0.2@0 U0>1 F1@1 B1@1 F1.1@1 B1.1@1 U1>2"}));
}

TEST(Dapple, DepthsAreTheLimitOfWhatIsInFlight) {
  const Rules rules = dapple(plan_of({2, 1}, {2, 1}), {1, 3, 3}).rules;
  EXPECT_EQ(rules.in_flight, (std::vector<int>{2, 1}));
  EXPECT_TRUE(rules.traits.flushes);
}

TEST(Dapple, MinibatchesOfOneUpdateRunWithoutAFlushBetweenThem) {
  EXPECT_EQ(texts_of(dapple(accumulating(plan_of({1, 1}, {2, 1}), 2), {3, 2, 1})),
            (Texts{"F0@0 F0.1@0 B0@0 F1@0 B0.1@0 F1.1@0 B1@0 B1.1@0 U0>1 F2@1 B2@1 U1>2",
                   "F0@0 B0@0 F0.1@0 B0.1@0 F1@0 B1@0 F1.1@0 B1.1@0 U0>1 F2@1 B2@1 U1>2"}));
}

}  // namespace
}  // namespace pipedream::schedule
