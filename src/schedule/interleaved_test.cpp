#include "schedule/interleaved.h"

#include <gtest/gtest.h>

#include "cost/interleaving.h"
#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

// Returns a plan with stage s on worker s mod `workers`.
plan::Plan dealt(int workers, int chunks) {
  plan::Plan plan = plan_of(std::vector<int>(static_cast<std::size_t>(workers * chunks), 1));
  for (plan::Stage& stage : plan.stages) stage.workers[0].value %= workers;
  return plan;
}

Texts pictures(int workers, int chunks, int microbatches) {
  return pictures_of(interleaved(dealt(workers, chunks), {1, microbatches, microbatches}), true);
}

TEST(Interleaved, TwoWorkersOfTwoStagesLookAsInTheHeader) {
  EXPECT_EQ(pictures(2, 2, 2), (Texts{"0:F0 0:F0.1 2:F0 2:F0.1 2:B0 2:B0.1 0:B0 0:B0.1 0:U 2:U",
                                      "1:F0 1:F0.1 3:F0 3:B0 3:F0.1 3:B0.1 1:B0 1:B0.1 1:U 3:U"}));
}

TEST(Interleaved, MicrobatchesGoInGroupsThroughAWorkersStages) {
  EXPECT_EQ(pictures(2, 2, 4),
            (Texts{"0:F0 0:F0.1 2:F0 2:F0.1 0:F0.2 2:B0 0:F0.3 2:B0.1 2:F0.2 0:B0 2:F0.3 0:B0.1 "
                   "2:B0.2 2:B0.3 0:B0.2 0:B0.3 0:U 2:U",
                   "1:F0 1:F0.1 3:F0 3:B0 3:F0.1 3:B0.1 1:F0.2 1:B0 1:F0.3 1:B0.1 3:F0.2 3:B0.2 "
                   "3:F0.3 3:B0.3 1:B0.2 1:B0.3 1:U 3:U"}));
}

TEST(Interleaved, TwoWorkersOfThreeStages) {
  EXPECT_EQ(
      pictures(2, 3, 2),
      (Texts{"0:F0 0:F0.1 2:F0 2:F0.1 4:F0 4:F0.1 4:B0 4:B0.1 2:B0 2:B0.1 0:B0 0:B0.1 0:U 2:U 4:U",
             "1:F0 1:F0.1 3:F0 3:F0.1 5:F0 5:B0 5:F0.1 5:B0.1 3:B0 3:B0.1 1:B0 1:B0.1 1:U 3:U "
             "5:U"}));
}

TEST(Interleaved, WhatDoesNotMakeAGroupJoinsTheFirst) {
  EXPECT_EQ(pictures(2, 2, 3),
            (Texts{"0:F0 0:F0.1 0:F0.2 2:F0 2:F0.1 2:F0.2 2:B0 2:B0.1 2:B0.2 0:B0 0:B0.1 0:B0.2 "
                   "0:U 2:U",
                   "1:F0 1:F0.1 1:F0.2 3:F0 3:B0 3:F0.1 3:B0.1 3:F0.2 3:B0.2 1:B0 1:B0.1 1:B0.2 "
                   "1:U 3:U"}));
}

TEST(Interleaved, OneStageAWorkerIsDapplesSchedule) {
  EXPECT_EQ(pictures(3, 1, 4), (Texts{"0:F0 0:F0.1 0:F0.2 0:B0 0:F0.3 0:B0.1 0:B0.2 0:B0.3 0:U",
                                      "1:F0 1:F0.1 1:B0 1:F0.2 1:B0.1 1:F0.3 1:B0.2 1:B0.3 1:U",
                                      "2:F0 2:B0 2:F0.1 2:B0.1 2:F0.2 2:B0.2 2:F0.3 2:B0.3 2:U"}));
}

TEST(Interleaved, AShortLastMinibatchHasFewerMicrobatchesAndUsesTheNextVersion) {
  EXPECT_EQ(texts_of(interleaved(dealt(2, 2), {2, 2, 1}), true)[0],
            "0:F0@0 0:F0.1@0 2:F0@0 2:F0.1@0 2:B0@0 2:B0.1@0 0:B0@0 0:B0.1@0 0:U0>1 2:U0>1 0:F1@1 "
            "2:F1@1 2:B1@1 0:B1@1 0:U1>2 2:U1>2");
}

TEST(Interleaved, AStageThatRecomputesRunsEachForwardAgainRightBeforeItsBackward) {
  plan::Plan plan = dealt(1, 2);
  plan.stages[1].recompute = true;
  EXPECT_EQ(pictures_of(interleaved(plan, {1, 1, 1}), true),
            Texts{"0:F0 1:F0 1:C0 1:B0 0:B0 0:U 1:U"});
}

TEST(Interleaved, WarmUpGrowsWithStagesBehindAndChunks) {
  EXPECT_EQ((cost::Interleaving{4, 2, 8}.warm_up(0)), 2 * 3 + 4 + 1);
  EXPECT_EQ((cost::Interleaving{4, 2, 8}.warm_up(3)), 4 + 1);
  EXPECT_EQ((cost::Interleaving{4, 1, 8}.warm_up(0)), 4);
  EXPECT_EQ((cost::Interleaving{4, 2, 2}.warm_up(0)), 4) << "there are no more";
}

TEST(Interleaved, WhatIsInFlightIsLimitedByTheMostThatAnyMinibatchNeeds) {
  EXPECT_EQ(interleaved(dealt(2, 2), {1, 4, 4}).rules.in_flight, (std::vector<int>{4, 3, 2, 1}));
  // A last minibatch of 5 microbatches has a first group of 2 + 5 mod 2 = 3 microbatches. The first
  // group of a minibatch of 6 has only 2.
  const auto whole = interleaved(dealt(2, 2), {1, 5, 5}).rules.in_flight;
  EXPECT_EQ(interleaved(dealt(2, 2), {2, 6, 5}).rules.in_flight, whole);
}

TEST(InterleavedDeathTest, StagesThatAreNotDealtOutEvenlyAreNotForIt) {
  plan::Plan plan = dealt(2, 2);
  plan.stages.pop_back();
  EXPECT_DEATH((void)interleaved(plan, {1, 2, 2}), "dealt.has_value");
}

TEST(Interleaved, MicrobatchesOfOneUpdateRunLikeThoseOfOneMinibatch) {
  const Schedule of_one = interleaved(dealt(2, 2), {1, 8, 8});
  const Schedule of_two = interleaved(accumulating(dealt(2, 2), 2), {2, 4, 4});
  std::vector<std::string> wanted = pictures_of(of_one, true);
  for (std::string& picture : wanted)
    for (int m = 4; m < 8; ++m) {
      const std::string from = "0." + std::to_string(m);
      const std::string to = m == 4 ? "1" : "1." + std::to_string(m - 4);
      for (std::size_t at; (at = picture.find(from)) != std::string::npos;)
        picture.replace(at, from.size(), to);
    }
  EXPECT_EQ(pictures_of(of_two, true), wanted);
  EXPECT_EQ(of_two.rules.in_flight, of_one.rules.in_flight);
}

}  // namespace
}  // namespace pipedream::schedule
