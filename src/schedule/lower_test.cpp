#include "schedule/lower.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "schedule/lower_testing.h"
#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using test::message_of;
using Texts = std::vector<std::string>;

Op forward_at(int stage, std::int64_t minibatch) {
  return Forward{StageId{stage}, {minibatch, 0}, WeightVersion{0}};
}
Op backward_at(int stage, std::int64_t minibatch) {
  return Backward{StageId{stage}, {minibatch, 0}, WeightVersion{0}};
}

Texts lowered(const Schedule& schedule, const Pipeline& pipeline, bool with_stage = false) {
  return texts_of(lower(schedule, pipeline), with_stage);
}

Texts lowered(std::vector<Program> programs, const Pipeline& pipeline, bool with_stage = false) {
  return lowered(schedule_of(std::move(programs)), pipeline, with_stage);
}

std::string refusal(std::vector<Program> programs, const Pipeline& pipeline) {
  return message_of<BadValue>([&] { (void)lower(schedule_of(std::move(programs)), pipeline); });
}

// data ─▶ a ─0─▶ b ─1─▶ d      stages a | b c | d, each on its own worker
//         ├─0─▶ c ─2─▶ d      (value 0 is used twice in stage 1)
//         └─0───────▶ d
Pipeline skipping_pipeline() {
  graph::Builder builder;
  for (const char* name : {"a", "b", "c", "d"})
    builder.add_layer(name, "", {{"out", {}, Bytes{1}}});
  builder.add_input("data", {{"out", {}, Bytes{1}}});
  for (const auto& [from, to] :
       {std::pair{"data", "a"}, {"a", "b"}, {"a", "c"}, {"a", "d"}, {"b", "d"}, {"c", "d"}})
    builder.add_edge(from, "", to);
  plan::Plan plan{{{{LayerId{0}}, {WorkerId{0}}},
                   {{LayerId{1}, LayerId{2}}, {WorkerId{1}}},
                   {{LayerId{3}}, {WorkerId{2}}}}};
  return {std::move(builder).build(), std::move(plan)};
}

TEST(Lower, AddsLoadsAndATransferEachWayToTwoMinibatchesOnTwoStages) {
  const Pipeline pipeline = straight_pipeline(2);
  EXPECT_EQ(lowered(one_f_one_b(pipeline, 2), pipeline),
            (Texts{"L0 F0@0 SA0#0>1 L1 F1@0 SA0#1>1 RG0#0<1 B0@0 U0>1 RG0#1<1 B1@0 U1>2",
                   "RA0#0<0 L0 F0@0 RA0#1<0 B0@0 SG0#0>0 U0>1 L1 F1@1 B1@1 SG0#1>0 U1>2"}));
}

TEST(Lower, ReceivesTheNextMinibatchBeforeItSendsAGradient) {
  const Pipeline pipeline = straight_pipeline(2);
  EXPECT_EQ(lowered(one_f_one_b(pipeline, 3), pipeline),
            (Texts{"L0 F0@0 SA0#0>1 L1 F1@0 SA0#1>1 RG0#0<1 B0@0 U0>1 L2 F2@1 SA0#2>1 RG0#1<1 "
                   "B1@0 U1>2 RG0#2<1 B2@1 U2>3",
                   "RA0#0<0 L0 F0@0 RA0#1<0 B0@0 SG0#0>0 U0>1 L1 F1@1 RA0#2<0 B1@1 SG0#1>0 U1>2 "
                   "L2 F2@2 B2@2 SG0#2>0 U2>3"}));
}

TEST(Lower, SendsAValueOnceToEachStageThatUsesItAndTakesAGradientFromEach) {
  const Pipeline pipeline = skipping_pipeline();
  EXPECT_EQ(lowered(one_f_one_b(pipeline, 1), pipeline),
            (Texts{"L0 F0@0 SA0#0>1 SA0#0>2 RG0#0<2 RG0#0<1 B0@0 U0>1",
                   "RA0#0<0 F0@0 SA1#0>2 SA2#0>2 RG1#0<2 RG2#0<2 B0@0 SG0#0>0 U0>1",
                   "RA0#0<0 RA1#0<1 RA2#0<1 F0@0 B0@0 SG0#0>0 SG1#0>1 SG2#0>1 U0>1"}));
}

TEST(Lower, StagesOfOneWorkerHandOverDirectly) {
  Pipeline pipeline = skipping_pipeline();
  pipeline.plan.stages[2].workers = {WorkerId{0}};
  const std::vector<Program> programs{
      {WorkerId{0}, {forward_at(0, 0), forward_at(2, 0), backward_at(2, 0), backward_at(0, 0)}},
      {WorkerId{1}, {forward_at(1, 0), backward_at(1, 0)}}};
  EXPECT_EQ(lowered(programs, pipeline, true),
            (Texts{"0:L0 0:F0@0 SA0#0>1 RA1#0<1 RA2#0<1 2:F0@0 2:B0@0 SG1#0>1 SG2#0>1 RG0#0<1 "
                   "0:B0@0",
                   "RA0#0<0 1:F0@0 SA1#0>0 SA2#0>0 RG1#0<0 RG2#0<0 1:B0@0 SG0#0>0"}));
}

TEST(Lower, OneWorkerForAllStagesNeedsNoTransfers) {
  Pipeline pipeline = straight_pipeline(2);
  pipeline.plan.stages[1].workers = {WorkerId{0}};
  const std::vector<Program> programs{
      {WorkerId{0}, {forward_at(0, 0), forward_at(1, 0), backward_at(1, 0), backward_at(0, 0)}}};
  EXPECT_EQ(lowered(programs, pipeline, true), Texts{"0:L0 0:F0@0 1:L0 1:F0@0 1:B0@0 0:B0@0"});
}

TEST(Lower, LoadsForEveryStageThatUsesAnInput) {
  // The first and the last of three stages use `data`. Both load it, and nothing is sent for it.
  graph::Builder builder;
  for (const char* name : {"a", "b", "c"}) builder.add_layer(name, "", {{"out", {}, Bytes{1}}});
  builder.add_input("data", {{"out", {}, Bytes{1}}});
  for (const auto& [from, to] : {std::pair{"data", "a"}, {"a", "b"}, {"b", "c"}, {"data", "c"}})
    builder.add_edge(from, "", to);
  const Pipeline pipeline{std::move(builder).build(), straight_pipeline(3).plan};
  EXPECT_EQ(
      lowered(one_f_one_b(pipeline, 1), pipeline),
      (Texts{"L0 F0@0 SA0#0>1 RG0#0<1 B0@0 U0>1", "RA0#0<0 F0@0 SA1#0>2 RG1#0<2 B0@0 SG0#0>0 U0>1",
             "RA1#0<1 L0 F0@0 B0@0 SG1#0>1 U0>1"}));
}

TEST(Lower, TransfersGoToTheReplicaWhoseTurnItIs) {
  Pipeline pipeline = straight_pipeline(2);
  pipeline.plan.stages[0].workers = {WorkerId{0}, WorkerId{2}};
  const std::vector<Program> programs{
      {WorkerId{0}, {forward_at(0, 0), backward_at(0, 0)}},
      {WorkerId{1}, {forward_at(1, 0), backward_at(1, 0), forward_at(1, 1), backward_at(1, 1)}},
      {WorkerId{2}, {forward_at(0, 1), backward_at(0, 1)}}};
  EXPECT_EQ(lowered(programs, pipeline),
            (Texts{"L0 F0@0 SA0#0>1 RG0#0<1 B0@0",
                   "RA0#0<0 L0 F0@0 RA0#1<2 B0@0 SG0#0>0 L1 F1@0 B1@0 SG0#1>2",
                   "L1 F1@0 SA0#1>1 RG0#1<1 B1@0"}));
}

TEST(Lower, KeepsWorkersAndTheOrderOfPrograms) {
  Pipeline pipeline = straight_pipeline(2);
  pipeline.plan.stages[0].workers = {WorkerId{7}};
  const auto programs = lower(one_f_one_b(pipeline, 1), pipeline);
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs[0].worker, WorkerId{7});
  EXPECT_EQ(programs[1].worker, WorkerId{1});
  EXPECT_EQ(to_text(programs[1]), "RA0#0<7 L0 F0@0 B0@0 SG0#0>7 U0>1");
}

TEST(Lower, RefusesProgramsThatWaitForEachOther) {
  const Pipeline pipeline = straight_pipeline(2);
  // Worker 0 runs the backward of minibatch 0 before the forward of minibatch 1. Worker 1 runs the
  // forward of minibatch 1 before the backward of minibatch 0.
  EXPECT_EQ(refusal({{WorkerId{0},
                      {forward_at(0, 0), backward_at(0, 0), forward_at(0, 1), backward_at(0, 1)}},
                     {WorkerId{1},
                      {forward_at(1, 0), forward_at(1, 1), backward_at(1, 0), backward_at(1, 1)}}},
                    pipeline),
            "worker 0 would wait for ever at 0:B0@0 (op 1), which needs 1:B0");
}

TEST(Lower, RefusesToWaitForAnOpThatNoProgramHas) {
  const Pipeline pipeline = straight_pipeline(2);
  EXPECT_EQ(refusal({{WorkerId{0}, {forward_at(0, 0)}},
                     {WorkerId{1}, {forward_at(1, 0), forward_at(1, 1)}}},
                    pipeline),
            "worker 1 would wait for ever at 1:F1@0 (op 1), which needs 0:F1");
}

TEST(Lower, RefusesAnOpOnTheWrongWorker) {
  const Pipeline pipeline = straight_pipeline(2);
  EXPECT_EQ(
      refusal({{WorkerId{0}, {forward_at(0, 0), forward_at(1, 0)}}, {WorkerId{1}, {}}}, pipeline),
      "worker 0 runs 1:F0@0, but the plan does not give that stage to it");
  EXPECT_EQ(refusal({{WorkerId{0}, {forward_at(2, 0)}}}, pipeline),
            "worker 0 runs 2:F0@0, but the plan has only 2 stages");
}

TEST(Lower, RefusesAnItemThatIsAnotherReplicasTurn) {
  EXPECT_EQ(refusal({{WorkerId{0}, {forward_at(0, 1)}}, {WorkerId{1}, {}}}, chain(plan_of({2}))),
            "worker 0 runs 0:F1@0, but the plan gives that to worker 1");
}

TEST(Lower, RefusesToWaitForAnAveragingThatNotAllJoin) {
  const Op reduce = Reduce{StageId{0}, {1}};
  const Op await = Await{StageId{0}, {1}};
  EXPECT_EQ(refusal({{WorkerId{0}, {reduce, await}}, {WorkerId{1}, {}}}, chain(plan_of({2}))),
            "worker 0 would wait for ever at 0:A1 (op 1), which needs all replicas to average for "
            "version 1");
}

TEST(Lower, ReplicasThatShareItemsTransferToAllThatHaveSamplesInCommon) {
  const Pipeline pipeline = chain(plan_of({2, 1}, {1, 1}));
  const std::vector<Program> programs{{WorkerId{0}, {forward_at(0, 0), backward_at(0, 0)}},
                                      {WorkerId{1}, {forward_at(0, 0), backward_at(0, 0)}},
                                      {WorkerId{2}, {forward_at(1, 0), backward_at(1, 0)}}};
  Schedule schedule = schedule_of(programs);
  schedule.rules.traits.replicas = Replicas::kShareItems;
  EXPECT_EQ(lowered(schedule, pipeline),
            (Texts{"F0@0 SA0#0>2 RG0#0<2 B0@0", "F0@0 SA0#0>2 RG0#0<2 B0@0",
                   "RA0#0<0 RA0#0<1 F0@0 B0@0 SG0#0>0 SG0#0>1"}));
}

TEST(Lower, ARecomputationWaitsForTheGradientAndLeavesItToTheBackward) {
  Pipeline pipeline = straight_pipeline(2);
  pipeline.plan.stages[0].recompute = true;
  EXPECT_EQ(lowered(one_f_one_b(pipeline, 1), pipeline)[0],
            "L0 F0@0 SA0#0>1 RG0#0<1 C0@0 B0@0 U0>1");
}

TEST(Lower, WorkersThatExchangeNothingRunAheadOfEachOther) {
  const Pipeline pipeline = chain(plan_of({2}));
  const std::vector<Program> programs{{WorkerId{0}, {forward_at(0, 0), forward_at(0, 2)}},
                                      {WorkerId{1}, {forward_at(0, 3), forward_at(1, 0)}}};
  Schedule schedule = schedule_of(programs);
  schedule.rules.traits.asynchronous = true;
  const Routes routes(pipeline.plan, pipeline.graph, Replicas::kTakeTurns);
  Lowering lowering(schedule, routes);
  for (; lowering.peek(0) != nullptr; lowering.pop(0)) continue;
  EXPECT_EQ(to_text(*lowering.peek(1)), "F3@0") << "before its bad second op was looked at";
}

TEST(Lower, OpsCanBeLookedAtBeforeTheyAreTaken) {
  const Pipeline pipeline = straight_pipeline(2);
  const Schedule schedule = one_f_one_b(pipeline, 1);
  const Routes routes(pipeline.plan, pipeline.graph, Replicas::kTakeTurns);
  Lowering lowering(schedule, routes);
  EXPECT_EQ(to_text(*lowering.peek(0, 2)), "SA0#0>1");
  EXPECT_EQ(lowering.peek(0, 6), nullptr);
  EXPECT_EQ(to_text(*lowering.peek(0)), "L0");
  lowering.pop(0);
  EXPECT_EQ(to_text(*lowering.peek(0)), "F0@0");
  EXPECT_EQ(to_text(*lowering.peek(1)), "RA0#0<0");
}

TEST(Lower, ALongRunNeedsNoMoreMemoryThanAShortOne) { expect_steady(20'000); }

TEST(Lower, RefusesMissingAndDoubleProgramsOfAWorker) {
  const Pipeline pipeline = straight_pipeline(2);
  EXPECT_EQ(refusal({{WorkerId{0}, {forward_at(0, 0)}}}, pipeline),
            "worker 1, which must take what 0:F0@0 makes, has no program");
  EXPECT_EQ(refusal({{WorkerId{0}, {forward_at(0, 0)}}, {WorkerId{0}, {}}}, pipeline),
            "worker 0 has two programs");
}

TEST(Lower, RefusesAPlanThatDoesNotFitTheGraph) {
  Pipeline pipeline = straight_pipeline(2);
  pipeline.plan.stages[1].layers.clear();
  EXPECT_EQ(refusal({}, pipeline), "layer 'l1' is in no stage");
}

}  // namespace
}  // namespace pipedream::schedule
