#include "systems/planning.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "systems/chain_testing.h"
#include "systems/unit_case.h"

namespace pipedream::systems {
namespace {

struct Given {
  Option option;
  Wishes wishes;
};

// Every option of a planner, with wishes that give it.
std::vector<Given> every_option() {
  return {{Option::kStraight, {.straight = true}},
          {Option::kHierarchical, {.hierarchical = true}},
          {Option::kNoRecompute, {.recompute = false}},
          {Option::kSplit, {.split = {2}}},
          {Option::kStages, {.stages = 4}},
          {Option::kMicrobatches, {.microbatches = 4}},
          {Option::kAccumulate, {.accumulate = 2}},
          {Option::kDepth, {.depth = cost::Depth::kNoam}},
          {Option::kBalance, {.balance = plan::Balance::kSize}},
          {Option::kExchange, {.exchange = cost::Exchange::kAllToAll}}};
}

TEST(Options, AreThoseThatWishesGive) {
  for (const Given& given : every_option())
    EXPECT_EQ(given_options(given.wishes), std::vector{given.option}) << name_of(given.option);
  EXPECT_TRUE(given_options({}).empty());
}

TEST(Options, TakenBackAreAsIfNotGiven) {
  for (Given given : every_option()) {
    take_back(given.option, given.wishes);
    EXPECT_TRUE(given_options(given.wishes).empty()) << name_of(given.option);
  }
}

TEST(Options, ThatMeanSomethingToASystemAreTaken) {
  for (const Given& given : every_option())
    for (const System& system : all_systems())
      if (knows(system, given.option)) {
        EXPECT_NO_THROW((void)plan_of(system.name, {.layers = 6}, flat(4), given.wishes))
            << system.name << " " << name_of(given.option);
      }
}

TEST(Options, ThatMeanNothingToASystemAreRefusedWithThoseTheyAreFor) {
  for (const Given& given : every_option())
    for (const System& system : all_systems()) {
      if (knows(system, given.option)) continue;
      EXPECT_EQ(test::message_of<BadUsage>(
                    [&] { (void)plan_chain(system.name, {}, flat(4), given.wishes); }),
                "`" + name_of(given.option) + "` means nothing to " + system.name + "; it is for " +
                    who_knows(given.option));
    }
}

TEST(Options, StraightMeansNoReplicas) {
  EXPECT_EQ(plan::config_text(plan_of("pipedream", {.layers = 2}, flat(4)).plan), "2-2")
      << "as fast as 4, and sends less";
  EXPECT_EQ(
      plan::config_text(plan_of("pipedream", {.layers = 2}, flat(4), {.straight = true}).plan),
      "1-1");
  EXPECT_EQ(plan::config_text(plan_of("dapple", {.layers = 2}, flat(4)).plan), "4");
  EXPECT_EQ(plan::config_text(plan_of("dapple", {.layers = 2}, flat(4), {.straight = true}).plan),
            "1-1");
}

TEST(Options, StagesAndSplitSayWhereToCut) {
  const plan::Plan stages = plan_of("gpipe", {.layers = 6}, flat(4), {.stages = 3}).plan;
  ASSERT_EQ(stages.stages.size(), 3u);
  for (const plan::Stage& stage : stages.stages) EXPECT_EQ(stage.layers.size(), 2u);
  const plan::Plan split = plan_of("mp", {.layers = 6}, flat(4), {.split = {1, 5}}).plan;
  ASSERT_EQ(split.stages.size(), 3u);
  EXPECT_EQ(split.stages[0].layers.size(), 1u);
  EXPECT_EQ(split.stages[1].layers.size(), 4u);
  EXPECT_EQ(split.stages[2].layers.size(), 1u);
}

TEST(Options, ASplitThatCannotBeIsABadValue) {
  for (const std::vector<int>& split : {std::vector{0}, {6}, {3, 3}, {4, 2}, {1, 2, 3, 4}, {-1}})
    EXPECT_NE(test::message_of<BadValue>([&] {
                (void)plan_chain("gpipe", {.layers = 6}, flat(4), {.split = split});
              }).find("`split`: wanted"),
              std::string::npos);
}

TEST(Options, MicrobatchesAndDepthReachThePlan) {
  EXPECT_EQ(plan_of("gpipe", {}, flat(4), {.microbatches = 5}).plan.microbatches, 5);
  const plan::Plan deep = plan_of("pipedream", {}, flat(4),
                                  {.straight = true, .depth = cost::Depth::kUpTo, .most_depth = 7})
                              .plan;
  EXPECT_EQ(deep.stages.front().depth, 7);
}

TEST(Options, MoreStagesThanLayersOrWorkersCannotBeMet) {
  EXPECT_EQ(reason("gpipe", {.layers = 9}, flat(4), {.stages = 5}),
            "`stages` 5: at most 4 are possible here (9 layers, 4 workers)");
  EXPECT_EQ(reason("mp", {.layers = 3}, flat(4), {.stages = 4}),
            "`stages` 4: at most 3 are possible here (3 layers, 4 workers)");
}

TEST(Options, AMinibatchIsNotCutIntoMoreMicrobatchesThanItHasSamples) {
  EXPECT_EQ(reason("gpipe", {}, flat(4), {.microbatches = 1 << 20}).substr(0, 24),
            "`microbatches` 1048576: ");
}

TEST(Options, ASplitAndANumberOfStagesAreTooMuch) {
  EXPECT_EQ(test::message_of<BadUsage>(
                [] { (void)plan_chain("gpipe", {}, flat(4), {.split = {1}, .stages = 2}); }),
            "`split` says how many stages there are: leave out `stages`");
}

TEST(Options, PipedreamsOwnPlannerHasItsOwnDepth) {
  EXPECT_EQ(reason("pipedream", {}, flat(4),
                   {.hierarchical = true, .depth = cost::Depth::kUpTo, .most_depth = 3}),
            "`depth` N is for our planner: PipeDream's has its own rule (noam)");
}

TEST(Options, UnderOurCostModelTheHierarchicalPlanHasOurPrediction) {
  const Planned planned = plan_of("pipedream", {}, two_servers_of_two(), {.hierarchical = true});
  EXPECT_EQ(planned.times.predicted, planned.answer.prediction.per_minibatch);
  EXPECT_LE(*planned.answer.bound, planned.answer.objective);
}

TEST(Options, WithoutRecomputationGpipeKeepsAllActivations) {
  const Planned with = plan_of("gpipe", {.stash = 100}, flat(4));
  const Planned without = plan_of("gpipe", {.stash = 100}, flat(4), {.recompute = false});
  EXPECT_TRUE(with.plan.stages.front().recompute);
  EXPECT_FALSE(without.plan.stages.front().recompute);
  EXPECT_LT(without.times.predicted, with.times.predicted);
  EXPECT_GT(without.answer.prediction.stages[0].memory.total(),
            with.answer.prediction.stages[0].memory.total());
}

TEST(Torchgpipe, StaysOnOneMachine) {
  const Planned planned = plan_of("torchgpipe", {.layers = 8}, two_servers_of_two());
  EXPECT_EQ(plan::config_text(planned.plan), "1-1");
  EXPECT_EQ(plan::worker_count(planned.plan), 2);
  EXPECT_EQ(plan::config_text(plan_of("gpipe", {.layers = 8}, two_servers_of_two()).plan),
            "1-1-1-1");
  EXPECT_EQ(reason("torchgpipe", {.layers = 8}, two_servers_of_two(), {.stages = 3}),
            "`stages` 3: at most 2 are possible here (8 layers, 2 workers of one machine)");
}

TEST(CostModels, OfPipedreamsPlannersRefuseOtherSystemsWithAReason) {
  for (const cost::CostModel cost_model : {cost::CostModel::kPaper, cost::CostModel::kPublished})
    for (const System& system : all_systems()) {
      const Result result = plan_chain(system.name, {}, flat(4), {.cost_model = cost_model});
      if (knows(system, Option::kCostModel)) {
        ASSERT_TRUE(std::holds_alternative<Planned>(result)) << system.name;
        EXPECT_EQ(std::get<Planned>(result).cost_model, cost_model);
        continue;
      }
      ASSERT_TRUE(std::holds_alternative<plan::Refusal>(result)) << system.name;
      EXPECT_EQ(std::get<plan::Refusal>(result).why,
                "the cost models 'paper' and 'published' describe PipeDream's planner and data "
                "parallelism only");
      EXPECT_FALSE(std::get<plan::Refusal>(result).nearest.has_value());
    }
}

// In the paper's model, 2·3·40 bytes over 1 kB/s take 240 ms, and the 12 ms of compute overlap
// them. In the published model, compute and averaging add up.
TEST(CostModels, HaveTheirOwnTimeForDataParallelism) {
  const Planned paper =
      plan_of("dp-bsp", {}, flat(4, 1e3), {.cost_model = cost::CostModel::kPaper});
  EXPECT_DOUBLE_EQ(paper.times.predicted.count(), 0.240 / 4);
  EXPECT_EQ(paper.data_parallel, paper.times);
  const Planned published =
      plan_of("dp-bsp", {}, flat(4, 1e3), {.cost_model = cost::CostModel::kPublished});
  EXPECT_DOUBLE_EQ(published.times.predicted.count(), (0.012 + 4 * 3 * 0.040 / 4) / 4);
}

TEST(Planned, ComparesWithDataParallelismWhereThatFits) {
  const Planned planned = plan_of("pipedream", {}, flat(4));
  ASSERT_TRUE(planned.data_parallel.has_value());
  EXPECT_EQ(*planned.data_parallel, plan_of("dp-bsp", {}, flat(4)).times);
  const Planned small = plan_of("pipedream", {}, flat(4), {.memory = Bytes{100}, .straight = true});
  EXPECT_FALSE(small.data_parallel.has_value());
}

TEST(Planned, SaysWhichSystemItIsFor) {
  for (const System& system : all_systems()) {
    const Planned planned = plan_of(system.name, {}, flat(2));
    EXPECT_EQ(planned.system, system.name);
    EXPECT_EQ(planned.plan.system, system.name);
    EXPECT_TRUE(planned.every_cut);  // of a chain
  }
}

TEST(Planned, RefusesAProfileThatTakesNoTime) {
  for (const System& system : all_systems()) {
    const Result result = plan_chain(system.name, {.layers = 0}, flat(2));
    ASSERT_TRUE(std::holds_alternative<plan::Refusal>(result)) << system.name;
    EXPECT_EQ(std::get<plan::Refusal>(result).why,
              "no layer of the profile takes any time: there is nothing to plan");
  }
}

TEST(Planned, OneWorkerIsEnoughForEverySystem) {
  for (const System& system : all_systems()) {
    const Planned planned = plan_of(system.name, {}, flat(1), {.recompute = true});
    EXPECT_EQ(plan::config_text(planned.plan), "1") << system.name;
    const bool recomputes = planned.plan.stages[0].recompute;
    EXPECT_DOUBLE_EQ(planned.times.predicted.count(), recomputes ? 0.016 : 0.012) << system.name;
  }
}

TEST(Planning, APlanFileHasWhatWasPredicted) {
  const UnitCase made = unit_case({.replicas = {1, 1}});
  const Planned planned = std::get<Planned>(
      plan_for(find_system("pipedream"), Model(made.profile), made.cluster, {.straight = true}));
  const plan::PlanFile file = plan_file_of(planned, made.profile, 2, Seconds(3));
  EXPECT_EQ(file.workers, 2);
  EXPECT_EQ(file.predicted.seconds_per_minibatch, planned.times.predicted.count());
  EXPECT_EQ(file.predicted.planner_seconds, 3);
  EXPECT_EQ(file.predicted.stages.size(), planned.plan.stages.size());
}

TEST(Planning, OptimisersKeepNoneOneOrTwoCopiesOfTheWeights) {
  EXPECT_EQ(optimiser_copies("sgd"), 0);
  EXPECT_EQ(optimiser_copies("momentum"), 1);
  EXPECT_EQ(optimiser_copies("adam"), 2);
  EXPECT_EQ(optimiser_copies("adamw"), 2);
  EXPECT_THROW((void)optimiser_copies("adagrad"), BadUsage);
}

}  // namespace
}  // namespace pipedream::systems
