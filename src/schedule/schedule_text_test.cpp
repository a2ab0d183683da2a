#include "schedule/schedule_text.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "schedule/asynchronous.h"
#include "schedule/bulk_synchronous.h"
#include "schedule/gpipe.h"
#include "schedule/interleaved.h"
#include "schedule/schedule_testing.h"
#include "schedule/validate.h"

namespace pipedream::schedule {
namespace {

using test::message_of;
using Texts = std::vector<std::string>;

// Returns a plan with stage s on the workers in `workers[s]`.
plan::Plan plan_on(const std::vector<std::vector<int>>& workers) {
  plan::Plan plan;
  for (std::size_t s = 0; s < workers.size(); ++s) {
    plan.stages.push_back({{id_at<LayerId>(s)}, {}});
    for (const int worker : workers[s]) plan.stages[s].workers.push_back(WorkerId{worker});
  }
  return plan;
}

const plan::Plan kOne = plan_on({{0}});
const plan::Plan kTwo = plan_on({{0}, {1}});
const plan::Plan kReplicas = plan_on({{0, 1}});
const plan::Plan kTwoStagesOnOne = plan_on({{0}, {0}});

Texts read(const std::string& text, const plan::Plan& plan, bool with_stage = false) {
  return texts_of(programs_of(read_schedule_text(text, "s.txt", plan)), with_stage);
}

// Returns the text of the only program, or an empty string if there are several.
std::string read_one(const std::string& ops, const plan::Plan& plan = kOne) {
  const Texts texts = read("worker 0: " + ops, plan);
  return texts.size() == 1 ? texts[0] : "";
}

std::string refusal(const std::string& text, const plan::Plan& plan = kTwo) {
  return message_of<BadFile>([&] { (void)read_schedule_text(text, "s.txt", plan); });
}

Rules rules_of(const std::string& text, const plan::Plan& plan = kTwo) {
  return read_schedule_text(text, "s.txt", plan).rules;
}

// Returns the schedule as a user would write it in full.
std::string written(const Schedule& schedule) {
  std::string text;
  for (const Program& program : programs_of(schedule))
    text += "worker " + std::to_string(program.worker.value) + ": " + to_text(program, true) + "\n";
  return text;
}

// Returns the schedule with forwards and backwards alone, without weight versions.
std::string written_briefly(const Schedule& schedule) {
  std::string text;
  for (const Program& program : programs_of(schedule)) {
    text += "worker " + std::to_string(program.worker.value) + ":";
    for (const Op& op : program.ops) {
      const std::string full = to_text(op, true);
      if (std::holds_alternative<Forward>(op) || std::holds_alternative<Backward>(op))
        text += " " + full.substr(0, full.find('@'));
    }
    text += "\n";
  }
  return text;
}

TEST(ScheduleText, ReadsTheExampleOfTheHeader) {
  EXPECT_EQ(read("# comment to the end of the line\n"
                 "worker 0: F0 F1 B0 F2 B1 B2\n"
                 "worker 1: F0 B0 F1 B1\n"
                 "worker 1: F2 B2              # goes on\n",
                 kTwo),
            (Texts{"F0@0 F1@0 B0@0 U0>1 F2@1 B1@0 U1>2 B2@1 U2>3",
                   "F0@0 B0@0 U0>1 F1@1 B1@1 U1>2 F2@2 B2@2 U2>3"}));
}

TEST(ScheduleText, ReadsEveryOpAUserMayWrite) {
  const std::string ops = "F3@1 F3.2@1 C3@1 B3@1 b4.1@0 w4.1@0 U3>4 X4 A4 P3 P3.1 G4";
  EXPECT_EQ(read_one(ops), ops);
  const std::string staged = "0:F3@1 0:C3@1 0:B3@1 0:b4@0 0:w4@0 0:U3>4 0:X4 0:A4 0:P3 0:G4";
  EXPECT_EQ(read("worker 0: " + staged, kOne, true), Texts{staged});
}

TEST(ScheduleText, ReadsTheHighestNumbers) {
  const std::string ops = "F1000000000.1000000@1000000000 U1000000000>1000000000";
  EXPECT_EQ(read_one(ops), ops);
  EXPECT_EQ(read_one("F007.0@00 U0>1"), "F7@0 U0>1");
}

TEST(ScheduleText, SpacesTabsEmptyLinesAndWindowsLineEndsDoNotMatter) {
  EXPECT_EQ(read("\r\n \t\r\n\tworker\t 0 :F0   B0\t\r\n\r\nworker 1: F0 B0", kTwo),
            read("worker 0: F0 B0\nworker 1: F0 B0\n", kTwo));
}

TEST(ScheduleText, ACommentMayFollowAnOpWithoutASpace) {
  EXPECT_EQ(read_one("F0 B0# B1\n#worker 0: F1\n"), "F0@0 B0@0 U0>1");
}

TEST(ScheduleText, LinesOfOneWorkerNeedNotFollowEachOther) {
  EXPECT_EQ(read("worker 1: F0\nworker 0: F0\nworker 1: B0\nworker 0: B0\n", kTwo),
            (Texts{"F0@0 B0@0 U0>1", "F0@0 B0@0 U0>1"}));
}

TEST(ScheduleText, ProgramsComeInTheOrderOfWorkersWithoutEmptyOnes) {
  const auto programs = programs_of(
      read_schedule_text("worker 2: F0\nworker 0: F0\nworker 1:\n", "s", plan_on({{2}, {0}, {1}})));
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs[0].worker, WorkerId{0});
  EXPECT_EQ(programs[0].ops, std::vector<Op>{(Forward{StageId{1}, {0, 0}, WeightVersion{0}})});
  EXPECT_EQ(programs[1].worker, WorkerId{2});
  EXPECT_EQ(programs[1].ops, std::vector<Op>{(Forward{StageId{0}, {0, 0}, WeightVersion{0}})});
}

TEST(ScheduleTextVersions, AForwardUsesTheNewestAtItsPlace) {
  EXPECT_EQ(read_one("F0 U0>1 F1 F2@0 U1>2 F3"), "F0@0 U0>1 F1@1 F2@0 U1>2 F3@2");
  EXPECT_EQ(read_one("F0 B0 P0 G1 F1"), "F0@0 B0@0 P0 G1 F1@1");
}

TEST(ScheduleTextVersions, EachStageHasItsOwn) {
  EXPECT_EQ(read("worker 0: 0:F0 1:F0 1:B0 1:U0>1 0:F1 1:F1", kTwoStagesOnOne, true),
            Texts{"0:F0@0 1:F0@0 1:B0@0 1:U0>1 0:F1@0 1:F1@1"});
}

TEST(ScheduleTextVersions, ABackwardUsesThatOfItsForward) {
  EXPECT_EQ(read_one("F0 F1@7 U0>1 F1.1 C1 B1 b1.1 w1.1 B0"),
            "F0@0 F1@7 U0>1 F1.1@1 C1@7 B1@7 b1.1@1 w1.1@1 B0@0");
  EXPECT_EQ(read_one("F0@3 B0@4 U0>1"), "F0@3 B0@4 U0>1") << "what is written stays";
}

TEST(ScheduleTextVersions, ABackwardWithoutAForwardBeforeItGetsVersionZero) {
  EXPECT_EQ(read_one("U0>1 B0 C1 F0 F1"), "U0>1 B0@0 C1@0 F0@1 F1@1");
}

TEST(ScheduleTextUpdates, OneComesAfterTheLastBackwardOfEachMinibatch) {
  EXPECT_EQ(read_one("F0 F0.1 B0 F1 B0.1 B1"), "F0@0 F0.1@0 B0@0 F1@0 B0.1@0 U0>1 B1@0 U1>2");
  EXPECT_EQ(read_one("F0 b0 F1 w0 B1"), "F0@0 b0@0 F1@0 w0@0 U0>1 B1@0 U1>2");
}

TEST(ScheduleTextUpdates, ComeInTheOrderOfMinibatches) {
  EXPECT_EQ(read_one("F0 F1 F2 B2 B0 B1"), "F0@0 F1@0 F2@0 B2@0 B0@0 U0>1 B1@0 U1>2 U2>3");
}

TEST(ScheduleTextUpdates, AMinibatchWithoutBackwardHoldsUpThoseAfterIt) {
  EXPECT_EQ(read_one("F0 F1 F2 B0 B2"), "F0@0 F1@0 F2@0 B0@0 U0>1 B2@0");
  EXPECT_EQ(read_one("F0 b0 F1 B1"), "F0@0 b0@0 F1@0 B1@0");
}

TEST(ScheduleTextUpdates, NoneAreAddedToAProgramThatHasSome) {
  EXPECT_EQ(read("worker 0: F0 F1 B0 B1 U0>1\nworker 1: F0 B0 F1 B1\n", kTwo),
            (Texts{"F0@0 F1@0 B0@0 B1@0 U0>1", "F0@0 B0@0 U0>1 F1@1 B1@1 U1>2"}));
  EXPECT_EQ(read("worker 0: F0 B0 X1\nworker 1: F1 B1 A1\n", kReplicas),
            (Texts{"F0@0 B0@0 X1", "F1@0 B1@0 A1"}));
}

TEST(ScheduleTextUpdates, NoneAreAddedWhereAnybodyPushesOrPulls) {
  EXPECT_EQ(read("worker 0: F0 B0 P0 G1\nworker 1: F1 B1\n", kReplicas),
            (Texts{"F0@0 B0@0 P0 G1", "F1@0 B1@0"}));
  EXPECT_EQ(read("worker 0: F0 B0 G1\n", kReplicas), Texts{"F0@0 B0@0 G1"});
}

TEST(ScheduleTextUpdates, StagesOfOneWorkerUpdateWhenTheMinibatchIsDoneOnAllOfThem) {
  EXPECT_EQ(read("worker 0: 0:F0 1:F0 1:B0 1:F1@0 0:B0", kTwoStagesOnOne, true),
            Texts{"0:F0@0 1:F0@0 1:B0@0 1:F1@0 0:B0@0 0:U0>1 1:U0>1"});
}

TEST(ScheduleTextUpdates, ReplicasAverageRightAfterTheirBackwardOfTheRound) {
  EXPECT_EQ(read("worker 0: F0 F2 B0 B2\nworker 1: F1 B1 F3 B3\n", kReplicas),
            (Texts{"F0@0 F2@0 B0@0 X1 A1 U0>1 B2@0 X2 A2 U1>2",
                   "F1@0 B1@0 X1 A1 U0>1 F3@1 B3@1 X2 A2 U1>2"}));
}

TEST(ScheduleTextUpdates, AReplicaWithoutAMinibatchInTheLastRoundTakesPartAtItsEnd) {
  EXPECT_EQ(
      read("worker 0: F0 B0 F2 B2\nworker 1: F1 B1\n", kReplicas),
      (Texts{"F0@0 B0@0 X1 A1 U0>1 F2@1 B2@1 X2 A2 U1>2", "F1@0 B1@0 X1 A1 U0>1 X2 A2 U1>2"}));
  EXPECT_EQ(read("worker 0: F0 B0\n", kReplicas), (Texts{"F0@0 B0@0 X1 A1 U0>1", "X1 A1 U0>1"}))
      << "also without a line";
}

TEST(ScheduleTextUpdates, AReplicaThatHasAMinibatchAndNoLineGetsNoProgram) {
  EXPECT_EQ(read("worker 0: F0 B0 F2 B2\n", kReplicas),
            Texts{"F0@0 B0@0 X1 A1 U0>1 F2@1 B2@1 X2 A2 U1>2"});
}

TEST(ScheduleTextRanges, AnUpdateOfAStageOnOneWorkerAppliesItsMinibatch) {
  const auto programs = programs_of(read_schedule_text("worker 0: U0>1 U5>9", "s", kOne));
  EXPECT_EQ(programs.at(0).ops, (std::vector<Op>{Update{StageId{0}, {0}, {1}, 0, 0},
                                                 Update{StageId{0}, {5}, {9}, 5, 5}}));
}

TEST(ScheduleTextRanges, AnUpdateOfReplicasAppliesItsRound) {
  const auto programs = programs_of(read_schedule_text(
      "worker 0: F0 B0 F2 B2\nworker 1: F1 B1 X1 A1 U0>1 X2 A2 U1>2", "s", kReplicas));
  const Op first = Update{StageId{0}, {0}, {1}, 0, 1};
  const Op second = Update{StageId{0}, {1}, {2}, 2, 2};  // there is no minibatch 3
  EXPECT_EQ(programs.at(0).ops.at(4), first);
  EXPECT_EQ(programs.at(0).ops.at(9), second);
  EXPECT_EQ(programs.at(1).ops.at(4), first);
  EXPECT_EQ(programs.at(1).ops.at(7), second);
}

TEST(ScheduleTextRecompute, OneIsAddedBeforeEachBackwardOfAStageThatRecomputes) {
  plan::Plan plan = kTwo;
  plan.stages[0].recompute = true;
  EXPECT_EQ(
      read("worker 0: F0 F1 B0 b1 w1\nworker 1: F0 B0 F1 B1", plan),
      (Texts{"F0@0 F1@0 C0@0 B0@0 U0>1 C1@0 b1@0 w1@0 U1>2", "F0@0 B0@0 U0>1 F1@1 B1@1 U1>2"}));
}

TEST(ScheduleTextRecompute, NoneIsAddedToAProgramThatHasSome) {
  plan::Plan plan = kOne;
  plan.stages[0].recompute = true;
  EXPECT_EQ(read_one("F0 F1 C0 B0 B1", plan), "F0@0 F1@0 C0@0 B0@0 U0>1 B1@0 U1>2");
}

TEST(ScheduleTextRules, AreTurnsAndStashingWithoutABoundOnWhatIsInFlight) {
  const Rules rules = rules_of("worker 0: F0 F1 B0 B1\nworker 1: F0 B0 F1 B1\n");
  EXPECT_EQ(rules.traits.replicas, Replicas::kTakeTurns);
  EXPECT_EQ(rules.traits.versions, WeightVersions::kStashed);
  EXPECT_EQ(rules.kept(), 1);
  EXPECT_TRUE(rules.in_flight.empty());
  EXPECT_FALSE(rules.traits.asynchronous);
  EXPECT_FALSE(rules.traits.flushes);
}

TEST(ScheduleTextRules, FlushesWhenNothingIsInFlightAtAnyUpdate) {
  EXPECT_TRUE(
      rules_of("worker 0: F0 F0.1 B0.1 B0 F1 B1\nworker 1: F0 B0 F0.1 B0.1\n").traits.flushes);
  EXPECT_TRUE(rules_of("worker 0: F0 F1 B0 B1 U0>1\nworker 1: F0 B0\n").traits.flushes);
  EXPECT_FALSE(rules_of("worker 0: F0 F1 B0 B1\nworker 1: F0 B0\n").traits.flushes);
  EXPECT_FALSE(rules_of("worker 0: F0 b0 U0>1 w0\n").traits.flushes);
}

TEST(ScheduleTextRules, IsAsynchronousWithAPushOrAPull) {
  EXPECT_TRUE(rules_of("worker 0: F0 B0 P0 G1\nworker 1: F0\n").traits.asynchronous);
  EXPECT_TRUE(rules_of("worker 0: G1\n").traits.asynchronous);
  EXPECT_TRUE(rules_of("worker 0: F0 B0 P0 G1\n").traits.flushes);
  EXPECT_FALSE(rules_of("worker 0: F0 F1 B0 P0 G1 B1 P1 G2\n").traits.flushes);
}

TEST(ScheduleTextRefusals, ALineThatIsNotAWorkers) {
  EXPECT_EQ(refusal("worker 0: F0\n\nwroker 1: F0"),
            "s.txt:3:1: wanted a line as \"worker 0: F0 B0\", found \"wroker\" (did you mean "
            "'worker'?)");
  EXPECT_EQ(refusal("  Worker 0: F0"),
            "s.txt:1:3: wanted a line as \"worker 0: F0 B0\", found \"Worker\" (did you mean "
            "'worker'?)");
  EXPECT_EQ(refusal("worker 0: F0\n  F1 B1"),
            "s.txt:2:3: wanted a line as \"worker 0: F0 B0\", found \"F1\"");
  EXPECT_EQ(refusal("{\x01\n"), "s.txt:1:1: wanted a line as \"worker 0: F0 B0\", found \"{?\"");
}

TEST(ScheduleTextRefusals, AWorkerThatThePlanDoesNotHave) {
  EXPECT_EQ(refusal("worker 2: F0"), "s.txt:1:8: wanted a worker from 0 to 1, found \"2\"");
  EXPECT_EQ(refusal("worker -1: F0"), "s.txt:1:8: wanted a worker from 0 to 1, found \"-1:\"");
  EXPECT_EQ(refusal("worker : F0"), "s.txt:1:8: wanted a worker from 0 to 1, found \":\"");
  EXPECT_EQ(refusal("worker"), "s.txt:1:7: wanted a worker from 0 to 1, found the end of the line");
  EXPECT_EQ(refusal("worker 99999999999999999999: F0"),
            "s.txt:1:8: wanted a worker from 0 to 1, found \"99999999999999999999\"");
  EXPECT_EQ(refusal("worker 1: F0", plan_on({{0}, {2}})),
            "s.txt:1:8: wanted a worker to which the plan gives a stage, found \"1\"");
}

TEST(ScheduleTextRefusals, AWorkerWithoutAColon) {
  EXPECT_EQ(refusal("worker 0 F0"),
            "s.txt:1:10: wanted \":\" after the worker's number, found \"F0\"");
  EXPECT_EQ(refusal("worker 0"),
            "s.txt:1:9: wanted \":\" after the worker's number, found the end of the line");
}

TEST(ScheduleTextRefusals, AnUnknownOp) {
  EXPECT_EQ(refusal("worker 0: F0 Q1"),
            "s.txt:1:14: wanted an op: F, C, B, b, w, U, X, A, P or G, found \"Q1\"");
  EXPECT_EQ(refusal("worker 0: F0 f1"),
            "s.txt:1:14: wanted an op: F, C, B, b, w, U, X, A, P or G, found \"f1\" (did you mean "
            "'F1'?)");
  EXPECT_EQ(refusal("worker 0: 0:W1"),
            "s.txt:1:13: wanted an op: F, C, B, b, w, U, X, A, P or G, found \"W1\" (did you mean "
            "'0:w1'?)");
  EXPECT_EQ(refusal("worker 0: 0: F1"),
            "s.txt:1:13: wanted an op: F, C, B, b, w, U, X, A, P or G, found a space");
  EXPECT_EQ(refusal("worker 0: 0:"),
            "s.txt:1:13: wanted an op: F, C, B, b, w, U, X, A, P or G, found the end of the line");
}

TEST(ScheduleTextRefusals, LoadsSendsAndReceives) {
  const std::string why = ": loads (L), sends (S) and receives (R) are added later: leave them out";
  EXPECT_EQ(refusal("worker 0: L0 F0"),
            "s.txt:1:11: wanted an op of compute or weights, found \"L0\"" + why);
  EXPECT_EQ(refusal("worker 0: F0 0:L1"),
            "s.txt:1:14: wanted an op of compute or weights, found \"0:L1\"" + why);
  EXPECT_EQ(refusal("worker 0: F0 SA5#3>1"),
            "s.txt:1:14: wanted an op of compute or weights, found \"SA5\"" + why);
  EXPECT_EQ(refusal("worker 0: RG5#3<1"),
            "s.txt:1:11: wanted an op of compute or weights, found \"RG5\"" + why);
}

TEST(ScheduleTextRefusals, AStageThatTheWorkerDoesNotHave) {
  EXPECT_EQ(refusal("worker 0: 2:F0"), "s.txt:1:11: wanted a stage from 0 to 1, found \"2\"");
  EXPECT_EQ(refusal("worker 0: 1:F0"), "s.txt:1:11: wanted a stage of worker 0 (0), found \"1\"");
  EXPECT_EQ(refusal("worker 0: 0F0"), "s.txt:1:12: wanted \":\" after the stage, found \"F0\"");
  EXPECT_EQ(refusal("worker 0: 0:F0 B0", kTwoStagesOnOne),
            "s.txt:1:16: wanted a stage, as in 0:B0, as worker 0 has several (0, 1), found "
            "\"B0\"");
  EXPECT_EQ(refusal("worker 0: F0", plan_on(std::vector(9, std::vector{0}))),
            "s.txt:1:11: wanted a stage, as in 0:F0, as worker 0 has several "
            "(0, 1, 2, 3, 4, 5, 6, 7, …), found \"F0\"");
}

TEST(ScheduleTextRefusals, NumbersThatAreMissingOrTooLarge) {
  EXPECT_EQ(refusal("worker 0: F"),
            "s.txt:1:12: wanted a minibatch from 0 to 1000000000, found the end of the line");
  EXPECT_EQ(refusal("worker 0: F 0"),
            "s.txt:1:12: wanted a minibatch from 0 to 1000000000, found a space");
  EXPECT_EQ(refusal("worker 0: Bx@1"),
            "s.txt:1:12: wanted a minibatch from 0 to 1000000000, found \"x@1\"");
  EXPECT_EQ(refusal("worker 0: C1000000001@0"),
            "s.txt:1:12: wanted a minibatch from 0 to 1000000000, found \"1000000001\"");
  EXPECT_EQ(refusal("worker 0: P-1"),
            "s.txt:1:12: wanted a minibatch from 0 to 1000000000, found \"-1\"");
  EXPECT_EQ(refusal("worker 0: F0.1000001"),
            "s.txt:1:14: wanted a microbatch from 0 to 1000000, found \"1000001\"");
  EXPECT_EQ(refusal("worker 0: b0.@1"),
            "s.txt:1:14: wanted a microbatch from 0 to 1000000, found \"@1\"");
  EXPECT_EQ(refusal("worker 0: w0@"),
            "s.txt:1:14: wanted a weight version from 0 to 1000000001, found the end of the line");
  for (const char* op : {"X", "A", "G", "U"})
    EXPECT_EQ(refusal("worker 0: " + std::string(op) + "1000000002"),
              "s.txt:1:12: wanted a weight version from 0 to 1000000001, found \"1000000002\"");
}

TEST(ScheduleTextRefusals, AnUpdateWithoutItsSecondVersion) {
  EXPECT_EQ(refusal("worker 0: U0"),
            "s.txt:1:13: wanted \">\" and the version that the update gives, found the end of the "
            "line");
  EXPECT_EQ(refusal("worker 0: U0-1"),
            "s.txt:1:13: wanted \">\" and the version that the update gives, found \"-1\"");
  EXPECT_EQ(refusal("worker 0: U0>"),
            "s.txt:1:14: wanted a weight version from 0 to 1000000001, found the end of the line");
}

TEST(ScheduleTextRefusals, AnOpThatGoesOn) {
  EXPECT_EQ(refusal("worker 0: F0,F1"), "s.txt:1:13: wanted a space after \"F0\", found \",F1\"");
  EXPECT_EQ(refusal("worker 0: X1@0"), "s.txt:1:13: wanted a space after \"X1\", found \"@0\"");
  EXPECT_EQ(refusal("worker 0: 0:P1.1@0"),
            "s.txt:1:17: wanted a space after \"0:P1.1\", found \"@0\"");
}

TEST(ScheduleTextRefusals, AFileWithoutOps) {
  const std::string message =
      "s.txt: wanted at least one op, as in \"worker 0: F0 B0\", found none";
  for (const char* text : {"", "\n", "# worker 0: F0\n", "worker 0:\nworker 1: # F0"})
    EXPECT_EQ(refusal(text), message);
}

TEST(ScheduleTextRefusals, LongRubbishIsCutShort) {
  EXPECT_LT(refusal("worker 0: " + std::string(100'000, 'Q')).size(), 200U);
  EXPECT_LT(refusal("worker 0: F" + std::string(100'000, '9')).size(), 200U);
  EXPECT_LT(refusal(std::string(100'000, '\xe2')).size(), 200U);
}

TEST(ScheduleTextOfGenerators, WhatTheyMakeIsReadBackAsTheSame) {
  Pipeline pipeline = straight_pipeline(4);
  pipeline.plan.stages[1].recompute = true;
  pipeline.plan.microbatches = 4;
  const Extent extent = whole_minibatches(pipeline.plan, 3);
  Pipeline dealt = pipeline;
  for (int s = 0; s < 4; ++s)
    dealt.plan.stages[static_cast<std::size_t>(s)].workers = {WorkerId{s % 2}};
  for (const auto& [schedule, plan] : {std::pair{one_f_one_b(pipeline, 6), pipeline.plan},
                                       {gpipe(pipeline.plan, extent), pipeline.plan},
                                       {interleaved(dealt.plan, extent), dealt.plan},
                                       {bulk_synchronous(kReplicas, {5, 1, 1}), kReplicas},
                                       {asynchronous(kReplicas, {5, 1, 1}), kReplicas}}) {
    const Schedule again = read_schedule_text(written(schedule), "s.txt", plan);
    EXPECT_EQ(programs_of(again), programs_of(schedule)) << written(schedule);
    EXPECT_EQ(again.rules.traits.flushes, schedule.rules.traits.flushes) << written(schedule);
    EXPECT_EQ(again.rules.traits.asynchronous, schedule.rules.traits.asynchronous);
    if (schedule.rules.traits.asynchronous) continue;
    const Schedule filled = read_schedule_text(written_briefly(schedule), "s.txt", plan);
    EXPECT_EQ(programs_of(filled), programs_of(schedule)) << written_briefly(schedule);
  }
}

TEST(ScheduleTextFile, IsReadAndNamedInMessages) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "mine.txt";
  write_file_atomically(path, "worker 0: F0 B0\n");
  EXPECT_EQ(texts_of(programs_of(read_schedule_file(path, kOne))), Texts{"F0@0 B0@0 U0>1"});
  write_file_atomically(path, "worker 3:\n");
  EXPECT_EQ(message_of<BadFile>([&] { (void)read_schedule_file(path, kOne); }),
            path.string() + ":1:8: wanted a worker from 0 to 0, found \"3\"");
  EXPECT_THROW((void)read_schedule_file(folder.path() / "none.txt", kOne), IoError);
}

TEST(ScheduleTextFile, TheExampleIs1F1BAndRuns) {
  const Pipeline pipeline = straight_pipeline(3);
  const Schedule schedule =
      read_schedule_file(PD_SOURCE_DIR "/examples/schedules/one_f_one_b.txt", pipeline.plan);
  EXPECT_EQ(programs_of(schedule), programs_of(one_f_one_b(pipeline, 5)));
  EXPECT_EQ(texts_of(programs_of(schedule)).at(0),
            "F0@0 F1@0 F2@0 B0@0 U0>1 F3@1 B1@0 U1>2 F4@2 B2@0 U2>3 B3@1 U3>4 B4@2 U4>5")
      << "as its comment says";
  EXPECT_EQ(validate(lower(schedule, pipeline), schedule.rules, pipeline.plan, pipeline.graph),
            std::vector<Violation>{});
}

TEST(Documents, TheScheduleInTheDocumentIsRead) {
  const auto blocks = test::fenced_blocks(read_file(PD_SOURCE_DIR "/docs/formats.md"), "schedule");
  ASSERT_EQ(blocks.size(), 1U);
  const Pipeline pipeline = straight_pipeline(2);
  const Schedule schedule = read_schedule_text(blocks[0], "docs/formats.md", pipeline.plan);
  EXPECT_EQ(programs_of(schedule), programs_of(one_f_one_b(pipeline, 3)));
  EXPECT_EQ(texts_of(programs_of(schedule)).at(0), "F0@0 F1@0 B0@0 U0>1 F2@1 B1@0 U1>2 B2@1 U2>3");
}

}  // namespace
}  // namespace pipedream::schedule
