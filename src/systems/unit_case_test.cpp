#include "systems/unit_case.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "systems/simulation.h"

namespace pipedream::systems {
namespace {

std::vector<int> depths_of(const plan::Plan& plan) {
  std::vector<int> depths;
  for (const plan::Stage& stage : plan.stages) depths.push_back(stage.depth);
  return depths;
}

Simulated simulated(const UnitWishes& wishes, std::int64_t minibatches) {
  const UnitCase made = unit_case(wishes);
  return simulate_plan(made.plan, made.profile, made.cluster,
                       {.schedule_options = {.minibatches = minibatches}, .keep_timeline = true});
}

// For every system, a forward takes one unit and a backward takes UnitWishes::backward units.
TEST(UnitCase, AForwardTakesAUnitAndABackwardAsManyAsSaid) {
  for (const System& system : all_systems()) {
    const bool one_stage = system.traits.one_stage;
    const std::vector<int> replicas = one_stage ? std::vector{3} : std::vector{1, 1, 1};
    for (const int backward : {1, 2, 3})
      for (const timeline::Event& event : simulated({.system = system.name,
                                          .replicas = replicas,
                                          .microbatches = 4,
                                          .backward = backward},
                                                    3)
                                              .timeline.events) {
        if (std::holds_alternative<schedule::Forward>(event.op)) {
          EXPECT_EQ(event.end - event.start, kUnit) << system.name;
        } else if (std::holds_alternative<schedule::Backward>(event.op)) {
          EXPECT_EQ(event.end - event.start, backward * kUnit) << system.name;
        } else {
          EXPECT_EQ(event.start, event.end) << system.name << " " << schedule::to_text(event.op);
        }
      }
  }
}

TEST(UnitCase, ReplicasThatShareAnItemTakeAUnitEach) {
  for (const auto& replicas : {std::vector{2, 1}, {1, 2}, {2, 4}, {4, 1, 2}, {5, 2}})
    for (const timeline::Event& event :
         simulated({.system = "dapple", .replicas = replicas, .microbatches = 4}, 1)
             .timeline.events)
      if (std::holds_alternative<schedule::Forward>(event.op)) {
        EXPECT_EQ(event.end - event.start, kUnit) << testing::PrintToString(replicas);
      }
}

TEST(UnitCase, DepthsAreThoseOfTheSystem) {
  EXPECT_EQ(depths_of(unit_case({.replicas = {1, 1, 1}}).plan), (std::vector{3, 2, 1}));
  EXPECT_EQ(depths_of(unit_case({.replicas = {1, 2, 1}}).plan), (std::vector{5, 2, 1}));
  EXPECT_EQ(depths_of(unit_case({.replicas = {1, 2, 1}, .depth = plan::Depth::kNoam}).plan),
            (std::vector{4, 2, 1}));
  EXPECT_EQ(
      depths_of(
          unit_case({.replicas = {1, 1, 1}, .depth = plan::Depth::kUpTo, .most_depth = 5}).plan),
      (std::vector{5, 3, 1}));
  EXPECT_EQ(
      depths_of(unit_case({.system = "dapple", .replicas = {2, 1, 4}, .microbatches = 4}).plan),
      (std::vector{3, 2, 1}))
      << "replicas share each item";
  EXPECT_EQ(
      depths_of(
          unit_case({.system = "dapple", .replicas = {1, 1, 1}, .microbatches = 8, .deeper = true})
              .plan),
      (std::vector{5, 3, 1}))
      << "2(S−i)−1";
}

TEST(UnitCase, TwoBufferedPipelinesAreNoDeeperThanTheirMicrobatchesAllow) {
  const UnitCase made = unit_case({.system = "2bw", .replicas = {1, 1, 1, 1}, .microbatches = 2});
  EXPECT_EQ(depths_of(made.plan), (std::vector{3, 3, 2, 1}));
  EXPECT_NO_THROW((void)schedule_for(made.plan, {.minibatches = 3}));
}

TEST(UnitCase, InterleavedPipelinesDealTheirStagesOut) {
  const UnitCase made =
      unit_case({.system = "interleaved", .replicas = {1, 1}, .chunks = 3, .microbatches = 2});
  ASSERT_EQ(made.plan.stages.size(), 6U);
  for (std::size_t s = 0; s < 6; ++s)
    EXPECT_EQ(made.plan.stages[s].workers, std::vector{id_at<WorkerId>(s % 2)});
  EXPECT_EQ(made.cluster.workers(), 2);
}

TEST(UnitCase, MinibatchesAreCutWhereTheSystemCutsThem) {
  for (const System& system : all_systems())
    EXPECT_EQ(
        unit_case({.system = system.name, .replicas = {1}, .microbatches = 4}).plan.microbatches,
        system.traits.cuts_minibatches ? 4 : 1)
        << system.name;
}

TEST(UnitCase, RecomputingRunsForwardsTwice) {
  const auto summary =
      simulated({.system = "gpipe", .replicas = {1, 1}, .microbatches = 3, .recompute = true}, 1)
          .summary;
  EXPECT_EQ(summary.recompute, 2 * 3 * kUnit);
  EXPECT_EQ(summary.busy, 2 * 3 * 4 * kUnit);
}

TEST(UnitCase, RefusesWhatMeansNothingToTheSystem) {
  const auto misuse = [](const UnitWishes& wishes) {
    return test::message_of<BadUsage>([&] { (void)unit_case(wishes); });
  };
  EXPECT_EQ(misuse({.system = "mp", .replicas = {1}, .recompute = true}),
            "`recompute` means nothing to mp");
  EXPECT_EQ(misuse({.system = "gpipe", .replicas = {1}, .deeper = true}),
            "`warm_up` means nothing to gpipe");
  EXPECT_EQ(misuse({.system = "gpipe", .replicas = {1}, .depth = plan::Depth::kNoam}),
            "`depth` means nothing to gpipe");
  EXPECT_EQ(misuse({.system = "gpip", .replicas = {1}}),
            "there is no system 'gpip' (did you mean 'gpipe'?)");
}

}  // namespace
}  // namespace pipedream::systems
