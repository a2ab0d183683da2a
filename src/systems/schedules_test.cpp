#include "systems/schedules.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "schedule/schedule_testing.h"

namespace pipedream::systems {
namespace {

using schedule::texts_of;

plan::Plan plan_for_system(const std::string& system, const std::vector<int>& replicas,
                           const std::vector<int>& depths = {}, int microbatches = 1) {
  plan::Plan plan = schedule::plan_of(replicas, depths);
  plan.system = system;
  plan.microbatches = microbatches;
  return plan;
}

// Returns a plan with stage s on the one worker `workers[s]`.
plan::Plan dealt(const std::string& system, const std::vector<int>& workers, int microbatches = 2) {
  plan::Plan plan;
  plan.system = system;
  plan.microbatches = microbatches;
  for (const int worker : workers) plan.stages.push_back({{}, {WorkerId{worker}}});
  return plan;
}

std::string refusal(const plan::Plan& plan, const ScheduleOptions& options = {}) {
  return test::message_of<CannotMeet>([&] { (void)schedule_for(plan, options); });
}

std::string misuse(const plan::Plan& plan, const ScheduleOptions& options) {
  return test::message_of<BadUsage>([&] { (void)schedule_for(plan, options); });
}

TEST(ScheduleFor, IsTheScheduleOfThePlansSystem) {
  const auto extent = [](const plan::Plan& plan) { return schedule::whole_minibatches(plan, 4); };
  const ScheduleOptions four{.minibatches = 4};
  const auto expect = [&](const plan::Plan& plan, const schedule::Schedule& wanted) {
    EXPECT_EQ(texts_of(schedule_for(plan, four), true), texts_of(wanted, true)) << plan.system;
  };
  const plan::Plan mp = plan_for_system("mp", {1, 1});
  expect(mp, model_parallel(mp, extent(mp)));
  for (const char* name : {"gpipe", "torchgpipe"}) {
    const plan::Plan gpipe = plan_for_system(name, {1, 1}, {}, 3);
    expect(gpipe, schedule::gpipe(gpipe, extent(gpipe)));
  }
  const plan::Plan dapple = plan_for_system("dapple", {2, 1}, {2, 1}, 3);
  expect(dapple, schedule::dapple(dapple, extent(dapple)));
  const plan::Plan pipedream = plan_for_system("pipedream", {2, 1}, {2, 1});
  expect(pipedream, one_f_one_b(pipedream, extent(pipedream)));
  const plan::Plan two_buffered = plan_for_system("2bw", {2, 2}, {2, 1}, 3);
  expect(two_buffered, schedule::two_buffered(two_buffered, extent(two_buffered)));
  const plan::Plan bsp = plan_for_system("dp-bsp", {3});
  expect(bsp, bulk_synchronous(bsp, extent(bsp)));
  const plan::Plan asp = plan_for_system("dp-asp", {3});
  expect(asp, asynchronous(asp, extent(asp)));
  const plan::Plan interleaved = dealt("interleaved", {0, 1, 0, 1});
  expect(interleaved, schedule::interleaved(interleaved, extent(interleaved)));
}

TEST(ScheduleFor, EverySystemHasASchedule) {
  for (const System& system : all_systems())
    EXPECT_FALSE(schedule_for(plan_for_system(system.name, {1}), {}).generators.empty())
        << system.name;
}

TEST(ScheduleFor, AShortLastMinibatchHasFewerMicrobatches) {
  const plan::Plan plan = plan_for_system("gpipe", {1}, {}, 3);
  EXPECT_EQ(schedule::pictures_of(schedule_for(plan, {.minibatches = 2, .last_microbatches = 1})),
            std::vector<std::string>{"F0 F0.1 F0.2 B0 B0.1 B0.2 U F1 B1 U"});
}

TEST(ScheduleFor, VerticalSyncAndNoStashChooseTheWeightsOfPipedream) {
  const plan::Plan plan = plan_for_system("pipedream", {1, 1}, {2, 1});
  const auto extent = schedule::whole_minibatches(plan, 3);
  EXPECT_EQ(texts_of(schedule_for(plan, {.minibatches = 3, .vertical_sync = true})),
            texts_of(one_f_one_b(plan, extent, schedule::WeightVersions::kVerticalSync)));
  EXPECT_EQ(texts_of(schedule_for(plan, {.minibatches = 3, .no_stash = true})),
            texts_of(one_f_one_b(plan, extent, schedule::WeightVersions::kUnstashed)));
}

TEST(ScheduleFor, WeightWishesAreForPipedreamAlone) {
  for (const System& system : all_systems()) {
    if (knows(system, Option::kVerticalSync)) continue;
    const plan::Plan plan = plan_for_system(system.name, {1});
    EXPECT_EQ(misuse(plan, {.vertical_sync = true}),
              "`vertical_sync` is for pipedream; this plan is for " + system.name +
                  ", which has its own weight rule (choose `system` pipedream)");
    EXPECT_EQ(misuse(plan, {.no_stash = true}),
              "`no_stash` is for pipedream; this plan is for " + system.name +
                  ", which has its own weight rule (choose `system` pipedream)");
  }
  EXPECT_EQ(misuse(plan_for_system("pipedream", {1}), {.vertical_sync = true, .no_stash = true}),
            "`vertical_sync` keeps weights that `no_stash` throws away: choose one");
}

TEST(ScheduleFor, VerticalSyncKnowsNoReplicas) {
  EXPECT_EQ(refusal(plan_for_system("pipedream", {2, 1}, {2, 1}), {.vertical_sync = true}),
            "a plan 2-1 for pipedream: `vertical_sync` works without replicas only (plan with "
            "`straight`)");
  EXPECT_NO_THROW((void)schedule_for(plan_for_system("pipedream", {2, 1}), {.no_stash = true}));
}

TEST(ScheduleFor, ReplicasAreRefusedWhereTheSystemKnowsNone) {
  for (const char* system : {"mp", "gpipe", "torchgpipe", "interleaved"})
    EXPECT_EQ(refusal(plan_for_system(system, {2, 1}, {}, 2)),
              std::string("a plan 2-1 for ") + system + ": it knows no replicated stages");
}

TEST(ScheduleFor, MicrobatchesAndRecomputationAreRefusedWhereTheSystemKnowsNone) {
  for (const char* system : {"mp", "dp-bsp", "dp-asp", "pipedream"})
    EXPECT_EQ(refusal(plan_for_system(system, {1}, {}, 4)),
              std::string("a plan 1 for ") + system +
                  ": it does not cut minibatches, found 4 microbatches");
  plan::Plan plan = plan_for_system("mp", {1});
  plan.stages[0].recompute = true;
  EXPECT_EQ(refusal(plan), "a plan 1 for mp: it keeps what it needs, and recomputes nothing");
}

TEST(ScheduleFor, DataParallelismHasOneStage) {
  for (const char* system : {"dp-bsp", "dp-asp"})
    EXPECT_EQ(refusal(plan_for_system(system, {2, 1})),
              std::string("a plan 2-1 for ") + system + ": every worker must hold every layer");
}

TEST(ScheduleFor, OnlyInterleavedPipelinesHaveTwoStagesOnAWorker) {
  for (const System& system : all_systems()) {
    if (system.traits.several_stages_per_worker || system.traits.one_stage) continue;
    EXPECT_EQ(refusal(dealt(system.name, {0, 1, 0, 1})),
              "a plan 1-1-1-1 for " + system.name +
                  ": worker 0 has two stages, and this system gives a worker one");
  }
}

TEST(ScheduleFor, InterleavedStagesGoToTheWorkersInTurn) {
  EXPECT_NO_THROW((void)schedule_for(dealt("interleaved", {2, 0, 1, 2, 0, 1}), {}));
  EXPECT_NO_THROW((void)schedule_for(dealt("interleaved", {0, 1, 2}), {}));
  EXPECT_NO_THROW((void)schedule_for(dealt("interleaved", {0, 0, 0}), {}));
  for (const auto& workers : {std::vector{0, 1, 1, 0}, {0, 1, 0}, {0, 1, 1}, {0, 1, 0, 2}}) {
    std::string config = "1";
    for (std::size_t s = 1; s < workers.size(); ++s) config += "-1";
    EXPECT_EQ(refusal(dealt("interleaved", workers)),
              "a plan " + config +
                  " for interleaved: its stages must be dealt out to the workers in turn, the same "
                  "number to each");
  }
}

TEST(ScheduleFor, TwoBufferedPipelinesAreAlikeSideBySide) {
  EXPECT_EQ(refusal(plan_for_system("2bw", {2, 1}, {2, 1}, 4)),
            "a plan 2-1 for 2bw: all stages must have the same number of replicas");
}

// Two weight versions suffice for S stages exactly if there are M ≥ S − 1 microbatches.
TEST(ScheduleFor, TwoBufferedPipelinesNeedMicrobatchesForTheirDepth) {
  EXPECT_NO_THROW((void)schedule_for(plan_for_system("2bw", {1, 1, 1, 1}, {4, 3, 2, 1}, 3), {}));
  EXPECT_EQ(refusal(plan_for_system("2bw", {1, 1, 1, 1}, {4, 3, 2, 1}, 2)),
            "a plan 1-1-1-1 for 2bw: 4 microbatches in flight need at least 3 in a minibatch, "
            "found 2");
}

TEST(ScheduleFor, AnUnknownSystemIsAMisuse) {
  EXPECT_EQ(misuse(plan_for_system("dappel", {1}), {}),
            "there is no system 'dappel' (did you mean 'dapple'?)");
}

}  // namespace
}  // namespace pipedream::systems
