#include "schedule/one_f_one_b.h"

#include <gtest/gtest.h>

#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

Schedule straight(int stages, std::int64_t minibatches,
                  WeightVersions versions = WeightVersions::kStashed) {
  const std::vector<int> replicas(static_cast<std::size_t>(stages), 1);
  return one_f_one_b(plan_of(replicas, straight_depths(stages)), {minibatches, 1, 1}, versions);
}

TEST(OneFOneB, ThreeStagesLookAsInTheHeader) {
  Texts pictures = pictures_of(straight(3, 5));
  for (std::string& picture : pictures)  // the header leaves updates out
    for (std::size_t at; (at = picture.find(" U")) != std::string::npos;) picture.erase(at, 2);
  EXPECT_EQ(pictures, (Texts{"F0 F1 F2 B0 F3 B1 F4 B2 B3 B4",  //
                             "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4",  //
                             "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4"}));
}

TEST(OneFOneB, EachBackwardIsFollowedByItsUpdateAndUsesTheVersionOfItsForward) {
  EXPECT_EQ(texts_of(straight(3, 5), true),
            (Texts{"0:F0@0 0:F1@0 0:F2@0 0:B0@0 0:U0>1 0:F3@1 0:B1@0 0:U1>2 0:F4@2 0:B2@0 0:U2>3 "
                   "0:B3@1 0:U3>4 0:B4@2 0:U4>5",
                   "1:F0@0 1:F1@0 1:B0@0 1:U0>1 1:F2@1 1:B1@0 1:U1>2 1:F3@2 1:B2@1 1:U2>3 1:F4@3 "
                   "1:B3@2 1:U3>4 1:B4@3 1:U4>5",
                   "2:F0@0 2:B0@0 2:U0>1 2:F1@1 2:B1@1 2:U1>2 2:F2@2 2:B2@2 2:U2>3 2:F3@3 2:B3@3 "
                   "2:U3>4 2:F4@4 2:B4@4 2:U4>5"}));
}

TEST(OneFOneB, EachUpdateAppliesTheMinibatchOfItsBackward) {
  for (const Program& program : programs_of(straight(3, 5))) {
    std::int64_t next = 0;
    for (const Op& op : program.ops) {
      const auto* update = std::get_if<Update>(&op);
      if (update == nullptr) continue;
      EXPECT_EQ(std::pair(update->first, update->last), std::pair(next, next));
      ++next;
    }
    EXPECT_EQ(next, 5);
  }
}

// Returns 1F1B with `accumulate` rounds per update.
Schedule in_updates_of(plan::Plan plan, int accumulate, std::int64_t minibatches,
                       WeightVersions versions = WeightVersions::kStashed) {
  plan.accumulate = accumulate;
  return one_f_one_b(plan, {minibatches, 1, 1}, versions);
}

TEST(OneFOneB, TwoMinibatchesPerUpdateLookAsInTheHeader) {
  const plan::Plan plan = plan_of({1, 1}, {2, 1});
  EXPECT_EQ(texts_of(in_updates_of(plan, 2, 4)),
            (Texts{"F0@0 F1@0 B0@0 F2@0 B1@0 U0>1 F3@1 B2@0 B3@1 U1>2",
                   "F0@0 B0@0 F1@0 B1@0 U0>1 F2@1 B2@1 F3@1 B3@1 U1>2"}));
  EXPECT_EQ(texts_of(in_updates_of(plan, 2, 4, WeightVersions::kVerticalSync)),
            (Texts{"F0@0 F1@0 B0@0 F2@0 B1@0 U0>1 F3@1 B2@0 B3@1 U1>2",
                   "F0@0 B0@0 F1@0 B1@0 U0>1 F2@0 B2@0 F3@1 B3@1 U1>2"}));
  EXPECT_EQ(texts_of(in_updates_of(plan, 2, 4, WeightVersions::kUnstashed)),
            (Texts{"F0@0 F1@0 B0@0 F2@0 B1@0 U0>1 F3@1 B2@1 B3@1 U1>2",
                   "F0@0 B0@0 F1@0 B1@0 U0>1 F2@1 B2@1 F3@1 B3@1 U1>2"}));
}

TEST(OneFOneB, TwoRoundsPerUpdateAverageOnce) {
  EXPECT_EQ(texts_of(in_updates_of(plan_of({2}, {1}), 2, 7)),
            (Texts{"F0@0 B0@0 F2@0 B2@0 X1 F4@0 B4@0 A1 U0>1 F6@1 B6@1 X2 A2 U1>2",
                   "F1@0 B1@0 F3@0 B3@0 X1 F5@0 B5@0 A1 U0>1 X2 A2 U1>2"}));
}

// A forward uses the newest version of which all rounds have come back d rounds before or, if the
// averaging of a round overlaps another round, d + 1 rounds before.
TEST(OneFOneB, VersionsAreTheRoundsBeforeDividedByTheRoundsOfAnUpdate) {
  for (const int replicas : {1, 2, 3})
    for (int depth = 1; depth <= 5; ++depth)
      for (int accumulate = 1; accumulate <= 4; ++accumulate) {
        const auto schedule = in_updates_of(plan_of({replicas}, {depth}), accumulate, 40);
        for_each<Forward>(schedule, [&](const Forward& forward) {
          const std::int64_t round = forward.item.minibatch / replicas;
          const std::int64_t applied = replicas == 1 ? round - depth + 1 : round - depth;
          EXPECT_EQ(forward.weights, at_least_zero(applied < 0 ? -1 : applied / accumulate))
              << forward.item.minibatch << ", " << replicas << " replicas, depth " << depth;
        });
      }
}

TEST(OneFOneB, AnIncompleteLastUpdateAppliesTheMinibatchesThatThereAre) {
  for (std::int64_t minibatches = 1; minibatches <= 13; ++minibatches)
    for_each<Update>(in_updates_of(plan_of({2, 1}, {2, 1}), 3, minibatches),
                     [&](const Update& update) {
                       const std::int64_t each = update.stage == StageId{0} ? 6 : 3;
                       EXPECT_EQ(update.first, update.from.value * each);
                       EXPECT_EQ(update.last, std::min(minibatches, update.first + each) - 1);
                     });
}

TEST(OneFOneB, OneStageTrainsOneMinibatchAfterTheOther) {
  EXPECT_EQ(texts_of(straight(1, 3)), Texts{"F0@0 B0@0 U0>1 F1@1 B1@1 U1>2 F2@2 B2@2 U2>3"});
}

TEST(OneFOneB, FewerMinibatchesThanStagesNeverFillThePipeline) {
  EXPECT_EQ(texts_of(straight(4, 2)),
            (Texts{"F0@0 F1@0 B0@0 U0>1 B1@0 U1>2", "F0@0 F1@0 B0@0 U0>1 B1@0 U1>2",
                   "F0@0 F1@0 B0@0 U0>1 B1@0 U1>2", "F0@0 B0@0 U0>1 F1@1 B1@1 U1>2"}));
}

TEST(OneFOneB, NoMinibatchesGiveEmptyPrograms) {
  EXPECT_EQ(texts_of(straight(2, 0)), (Texts{"", ""}));
  EXPECT_EQ(texts_of(one_f_one_b(plan_of({2}, {1}), {0, 1, 1})), (Texts{"", ""}));
}

TEST(OneFOneB, AStageThatRecomputesRunsEachForwardAgainRightBeforeItsBackward) {
  plan::Plan plan = plan_of({1, 2}, {3, 1});
  plan.stages[0].recompute = plan.stages[1].recompute = true;
  EXPECT_EQ(texts_of(one_f_one_b(plan, {4, 1, 1})),
            (Texts{"F0@0 F1@0 F2@0 C0@0 B0@0 U0>1 F3@1 C1@0 B1@0 U1>2 C2@0 B2@0 U2>3 C3@1 B3@1 "
                   "U3>4",
                   "F0@0 C0@0 B0@0 X1 F2@0 C2@0 B2@0 X2 A1 U0>1 A2 U1>2",
                   "F1@0 C1@0 B1@0 X1 F3@0 C3@0 B3@0 X2 A1 U0>1 A2 U1>2"}));
}

TEST(OneFOneB, ADepthThatTheStagesBeforeDoNotFillIsCut) {
  const Schedule schedule = one_f_one_b(plan_of({1, 1}, {1, 3}), {2, 1, 1});
  EXPECT_EQ(texts_of(schedule),
            (Texts{"F0@0 B0@0 U0>1 F1@1 B1@1 U1>2", "F0@0 B0@0 U0>1 F1@1 B1@1 U1>2"}));
  EXPECT_EQ(schedule.rules.in_flight, (std::vector<int>{1, 1}));
}

// ---- Replicas ----

TEST(OneFOneBReplicas, TwoTakeTurnsAndAverageOncePerRound) {
  EXPECT_EQ(texts_of(one_f_one_b(plan_of({2, 1}, {2, 1}), {6, 1, 1})),
            (Texts{"F0@0 F2@0 B0@0 X1 F4@0 B2@0 X2 A1 U0>1 B4@0 X3 A2 U1>2 A3 U2>3",
                   "F1@0 F3@0 B1@0 X1 F5@0 B3@0 X2 A1 U0>1 B5@0 X3 A2 U1>2 A3 U2>3",
                   "F0@0 B0@0 U0>1 F1@1 B1@1 U1>2 F2@2 B2@2 U2>3 F3@3 B3@3 U3>4 F4@4 B4@4 U4>5 "
                   "F5@5 B5@5 U5>6"}));
}

TEST(OneFOneBReplicas, AnIncompleteLastRoundIsAveragedByAllAndAppliesTheMinibatchesThereAre) {
  const Schedule schedule = one_f_one_b(plan_of({3, 2}, {2, 1}), {7, 1, 1});
  EXPECT_EQ(texts_of(schedule),
            (Texts{"F0@0 F3@0 B0@0 X1 F6@0 B3@0 X2 A1 U0>1 B6@0 X3 A2 U1>2 A3 U2>3",
                   "F1@0 F4@0 B1@0 X1 B4@0 X2 A1 U0>1 X3 A2 U1>2 A3 U2>3",
                   "F2@0 F5@0 B2@0 X1 B5@0 X2 A1 U0>1 X3 A2 U1>2 A3 U2>3",
                   "F0@0 B0@0 X1 F2@0 B2@0 X2 A1 U0>1 F4@1 B4@1 X3 A2 U1>2 F6@2 B6@2 X4 A3 U2>3 "
                   "A4 U3>4",
                   "F1@0 B1@0 X1 F3@0 B3@0 X2 A1 U0>1 F5@1 B5@1 X3 A2 U1>2 X4 A3 U2>3 A4 U3>4"}));
  const auto programs = programs_of(schedule);
  EXPECT_EQ(programs[1].ops.back(), Op(Update{StageId{0}, {2}, {3}, 6, 6}));
  EXPECT_EQ(programs[4].ops.back(), Op(Update{StageId{1}, {3}, {4}, 6, 6}));
}

TEST(OneFOneBReplicas, WithoutStashingABackwardUsesTheNewest) {
  EXPECT_EQ(texts_of(one_f_one_b(plan_of({2}, {2}), {6, 1, 1}, WeightVersions::kUnstashed))[0],
            "F0@0 F2@0 B0@0 X1 F4@0 B2@0 X2 A1 U0>1 B4@1 X3 A2 U1>2 A3 U2>3");
}

// ---- Versions ----

TEST(OneFOneBVersions, VerticalSyncUsesTheFirstStagesVersionOnAllStages) {
  const Schedule schedule = straight(3, 5, WeightVersions::kVerticalSync);
  EXPECT_EQ(texts_of(schedule),
            (Texts{"F0@0 F1@0 F2@0 B0@0 U0>1 F3@1 B1@0 U1>2 F4@2 B2@0 U2>3 B3@1 U3>4 B4@2 U4>5",
                   "F0@0 F1@0 B0@0 U0>1 F2@0 B1@0 U1>2 F3@1 B2@0 U2>3 F4@2 B3@1 U3>4 B4@2 U4>5",
                   "F0@0 B0@0 U0>1 F1@0 B1@0 U1>2 F2@0 B2@0 U2>3 F3@1 B3@1 U3>4 F4@2 B4@2 U4>5"}));
  EXPECT_EQ(schedule.rules.kept(), 3);
}

TEST(OneFOneBVersions, WithoutStashingEveryOpUsesTheNewest) {
  const Schedule schedule = straight(3, 5, WeightVersions::kUnstashed);
  EXPECT_EQ(texts_of(schedule),
            (Texts{"F0@0 F1@0 F2@0 B0@0 U0>1 F3@1 B1@1 U1>2 F4@2 B2@2 U2>3 B3@3 U3>4 B4@4 U4>5",
                   "F0@0 F1@0 B0@0 U0>1 F2@1 B1@1 U1>2 F3@2 B2@2 U2>3 F4@3 B3@3 U3>4 B4@4 U4>5",
                   "F0@0 B0@0 U0>1 F1@1 B1@1 U1>2 F2@2 B2@2 U2>3 F3@3 B3@3 U3>4 F4@4 B4@4 U4>5"}));
  EXPECT_FALSE(schedule.rules.stashes());
}

TEST(OneFOneBVersions, OneWorkerUsesTheVersionADepthBehindForAllSizes) {
  for (int stages = 1; stages <= 8; ++stages)
    for (int minibatches = 0; minibatches <= 20; ++minibatches) {
      const Schedule schedule = straight(stages, minibatches);
      const auto wanted = [&](const auto& op) {
        const int depth = stages - op.stage.value;
        ASSERT_EQ(op.weights, at_least_zero(op.item.minibatch - depth + 1));
      };
      for_each<Forward>(schedule, wanted);
      for_each<Backward>(schedule, wanted);
    }
}

TEST(OneFOneBVersions, ReplicasUseTheVersionADepthAndARoundBehindForAllSizes) {
  for (int replicas = 2; replicas <= 4; ++replicas)
    for (int depth = 1; depth <= 5; ++depth)
      for (int minibatches = 0; minibatches <= 24; ++minibatches) {
        const Schedule schedule = one_f_one_b(plan_of({replicas}, {depth}), {minibatches, 1, 1});
        const auto wanted = [&](const auto& op) {
          ASSERT_EQ(op.weights, at_least_zero(op.item.minibatch / replicas - depth));
        };
        for_each<Forward>(schedule, wanted);
        for_each<Backward>(schedule, wanted);
      }
}

TEST(OneFOneBVersions, VerticalSyncIsTheNumberOfStagesBehindForAllSizes) {
  for (int stages = 1; stages <= 8; ++stages)
    for (int minibatches = 0; minibatches <= 20; ++minibatches) {
      const Schedule schedule = straight(stages, minibatches, WeightVersions::kVerticalSync);
      const auto wanted = [&](const auto& op) {
        ASSERT_EQ(op.weights, at_least_zero(op.item.minibatch - stages + 1));
      };
      for_each<Forward>(schedule, wanted);
      for_each<Backward>(schedule, wanted);
    }
}

TEST(OneFOneB, ProgramsGoToTheWorkersOfThePlan) {
  plan::Plan plan = plan_of({1, 1}, {2, 1});
  plan.stages[0].workers = {WorkerId{5}};
  plan.stages[1].workers = {WorkerId{3}};
  const auto programs = programs_of(one_f_one_b(plan, {1, 1, 1}));
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs[0].worker, WorkerId{5});
  EXPECT_EQ(programs[1].worker, WorkerId{3});
}

TEST(OneFOneBDeathTest, SharedWorkersAndVerticalSyncOfReplicasAreNotForIt) {
  plan::Plan shared = plan_of({1, 1}, {2, 1});
  shared.stages[1].workers = {WorkerId{0}};
  EXPECT_DEATH((void)one_f_one_b(shared, {1, 1, 1}), "taken.insert");
  EXPECT_DEATH((void)one_f_one_b(plan_of({2}, {1}), {1, 1, 1}, WeightVersions::kVerticalSync),
               "kVerticalSync");
}

}  // namespace
}  // namespace pipedream::schedule
