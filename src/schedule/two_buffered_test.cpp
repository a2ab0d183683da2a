#include "schedule/two_buffered.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

TEST(TwoBuffered, TwoStagesAndTwoMicrobatchesLookAsInTheHeader) {
  EXPECT_EQ(texts_of(two_buffered(plan_of({1, 1}, {2, 1}), {3, 2, 2})),
            (Texts{"F0@0 F0.1@0 B0@0 F1@0 B0.1@0 U0>1 F1.1@0 B1@0 F2@1 B1.1@0 U1>2 F2.1@1 B2@1 "
                   "B2.1@1 U2>3",
                   "F0@0 B0@0 F0.1@0 B0.1@0 U0>1 F1@0 B1@0 F1.1@0 B1.1@0 U1>2 F2@1 B2@1 F2.1@1 "
                   "B2.1@1 U2>3"}));
}

TEST(TwoBuffered, AShortLastMinibatchIsUpdatedAfterItsLastMicrobatch) {
  EXPECT_EQ(pictures_of(two_buffered(plan_of({1, 1}, {2, 1}), {2, 3, 1})),
            (Texts{"F0 F0.1 B0 F0.2 B0.1 F1 B0.2 U B1 U", "F0 B0 F0.1 B0.1 F0.2 B0.2 U F1 B1 U"}));
}

TEST(TwoBuffered, ReplicasArePipelinesSideBySideWhoseRoundIsOneUpdate) {
  const Schedule schedule = two_buffered(plan_of({2, 2}, {2, 1}), {6, 2, 2});
  EXPECT_EQ(texts_of(schedule),
            (Texts{"F0@0 F0.1@0 B0@0 F2@0 B0.1@0 X1 F2.1@0 B2@0 A1 U0>1 F4@1 B2.1@0 X2 F4.1@1 B4@1 "
                   "B4.1@1 X3 A2 U1>2 A3 U2>3",
                   "F1@0 F1.1@0 B1@0 F3@0 B1.1@0 X1 F3.1@0 B3@0 A1 U0>1 F5@1 B3.1@0 X2 F5.1@1 B5@1 "
                   "B5.1@1 X3 A2 U1>2 A3 U2>3",
                   "F0@0 B0@0 F0.1@0 B0.1@0 X1 F2@0 B2@0 F2.1@0 B2.1@0 X2 A1 U0>1 F4@1 B4@1 F4.1@1 "
                   "B4.1@1 X3 A2 U1>2 A3 U2>3",
                   "F1@0 B1@0 F1.1@0 B1.1@0 X1 F3@0 B3@0 F3.1@0 B3.1@0 X2 A1 U0>1 F5@1 B5@1 F5.1@1 "
                   "B5.1@1 X3 A2 U1>2 A3 U2>3"}));
  EXPECT_EQ(programs_of(schedule)[0].ops.back(), Op(Update{StageId{0}, {2}, {3}, 4, 5}));
}

TEST(TwoBuffered, AReplicaWithoutAMinibatchInTheLastRoundAveragesAndUpdatesAllTheSame) {
  EXPECT_EQ(pictures_of(two_buffered(plan_of({2}, {1}), {1, 2, 2})),
            (Texts{"F0 B0 F0.1 B0.1 X1 A1 U", "X1 A1 U"}));
  EXPECT_EQ(pictures_of(two_buffered(plan_of({2}, {1}), {3, 1, 1})),
            (Texts{"F0 B0 X1 F2 B2 X2 A1 U A2 U", "F1 B1 X1 X2 A1 U A2 U"}));
  EXPECT_EQ(
      pictures_of(two_buffered(plan_of({2}, {1}), {5, 1, 1})),
      (Texts{"F0 B0 X1 F2 B2 X2 A1 U F4 B4 X3 A2 U A3 U", "F1 B1 X1 F3 B3 X2 A1 U X3 A2 U A3 U"}))
      << "it needs no third buffer for gradients";
}

TEST(TwoBuffered, AStageThatRecomputesRunsEachForwardAgainRightBeforeItsBackward) {
  plan::Plan plan = plan_of({1}, {2});
  plan.stages[0].recompute = true;
  EXPECT_EQ(texts_of(two_buffered(plan, {1, 2, 2})),
            Texts{"F0@0 F0.1@0 C0@0 B0@0 C0.1@0 B0.1@0 U0>1"});
}

TEST(TwoBuffered, EveryMicrobatchUsesTheVersionBeforeItsRoundForAllSizes) {
  for (int replicas = 1; replicas <= 3; ++replicas)
    for (int microbatches = 1; microbatches <= 6; ++microbatches)
      for (int depth = 1; depth <= microbatches + 1; ++depth)
        for (int minibatches = 1; minibatches <= 9; ++minibatches)
          for (int last = 1; last <= microbatches; ++last) {
            const Schedule schedule =
                two_buffered(plan_of({replicas}, {depth}), {minibatches, microbatches, last});
            const auto wanted = [&](const auto& op) {
              ASSERT_EQ(op.weights, at_least_zero(op.item.minibatch / replicas - 1));
            };
            for_each<Forward>(schedule, wanted);
            for_each<Backward>(schedule, wanted);
          }
}

TEST(TwoBufferedDeathTest, MoreInFlightThanTwoVersionsAllowIsNotForIt) {
  EXPECT_DEATH((void)two_buffered(plan_of({1}, {4}), {2, 2, 2}), "most_in_flight");
  EXPECT_DEATH((void)two_buffered(plan_of({2, 1}, {2, 1}), {2, 2, 2}), "stage.workers.size");
}

// With two minibatches per update, two microbatches suffice for five items in flight.
TEST(TwoBuffered, MinibatchesOfOneUpdateAreLikeOneWithAllTheirMicrobatches) {
  for (int replicas = 1; replicas <= 3; ++replicas)
    for (int accumulate = 1; accumulate <= 3; ++accumulate)
      for (int depth = 1; depth <= 2 * accumulate + 1; ++depth)
        for (int minibatches = 1; minibatches <= 14; ++minibatches) {
          const plan::Plan plan = accumulating(plan_of({replicas}, {depth}), accumulate);
          const Schedule schedule = two_buffered(plan, {minibatches, 2, 1});
          const auto wanted = [&](const auto& op) {
            const std::int64_t update = op.item.minibatch / replicas / accumulate;
            ASSERT_EQ(op.weights, at_least_zero(update - 1));
          };
          for_each<Forward>(schedule, wanted);
          for_each<Backward>(schedule, wanted);
        }
}

}  // namespace
}  // namespace pipedream::schedule
