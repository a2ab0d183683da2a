// Plans whose updates have several minibatches (docs/systems.md#accumulation).
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "systems/chain_testing.h"
#include "systems/choice.h"
#include "systems/simulation.h"

namespace pipedream::systems {
namespace {

// Expects that the plan's predicted time is close to the simulated one.
void expect_close(const Planned& planned) {
  ASSERT_TRUE(planned.times.simulated.has_value());
  const double ratio = *planned.times.simulated / planned.times.predicted;
  EXPECT_GT(ratio, 0.97) << planned.system << ", " << planned.plan.accumulate;
  EXPECT_LT(ratio, 1.06) << planned.system << ", " << planned.plan.accumulate;
}

Seconds time_of(const Planned& planned) { return planned.times.simulated.value(); }

// A network of one layer can only be replicated. Its averaging takes twice as long as its compute.
// With more minibatches per update, each one takes a smaller part of the averaging.
TEST(Accumulation, MakesReplicasAverageLessOften) {
  for (const char* system : {"dp-bsp", "dapple", "pipedream", "2bw"}) {
    std::vector<Seconds> times;
    for (const int accumulate : {1, 2, 4, 8}) {
      const Wishes wishes{
          .microbatches = std::string(system) == "2bw" || std::string(system) == "dapple"
                              ? std::optional<int>(2)
                              : std::nullopt,
          .accumulate = accumulate};
      const Planned planned =
          plan_of(system, {.layers = 1, .weights = 20'000}, flat(4, 5e6), wishes);
      EXPECT_EQ(planned.plan.accumulate, accumulate);
      ASSERT_EQ(planned.plan.stages.front().workers.size(), 4U) << system;
      expect_close(planned);
      times.push_back(time_of(planned));
    }
    for (std::size_t i = 1; i < times.size(); ++i)
      EXPECT_LT(times[i], times[i - 1] * 1.001) << system;
    EXPECT_LT(times.back(), 0.6 * times.front()) << system;
  }
}

// An averaging of pipedream overlaps one round of compute. Of K rounds, K − 1 come before it.
TEST(Accumulation, LeavesAnAveragingOfPipedreamOneRoundToOverlap) {
  const auto plan = [](int accumulate) {
    return plan_of("pipedream", {.layers = 1, .weights = 30'000}, flat(4, 5e6),
                   {.accumulate = accumulate});
  };
  const double averaging = 4 * plan(1).times.predicted.count();
  const double round = 0.003;
  ASSERT_GT(averaging, 2 * round);
  for (const int k : {1, 2, 5})
    EXPECT_NEAR(plan(k).times.predicted.count(), ((k - 1) * round + averaging) / (4 * k), 1e-9);
}

TEST(Accumulation, SpreadsAnUpdateOverItsMinibatches) {
  profile::Profile profile = profile_of({.layers = 4, .weights = 0});
  for (profile::LayerCost& cost : profile.costs) cost.update = std::chrono::milliseconds(6);
  const Model model(profile);
  for (const System& system : all_systems()) {
    if (!knows(system, Option::kAccumulate)) continue;
    const Wishes wishes = only_known(system, {.recompute = false, .accumulate = 3});
    const Result result = plan_for(system, model, flat(1), wishes);
    const auto& planned = std::get<Planned>(result);
    EXPECT_NEAR(planned.times.predicted.count(), 4 * (0.003 + 0.006 / 3), 1e-9) << system.name;
    expect_close(planned);
  }
}

TEST(Accumulation, LetsTwoBufferedPipelinesBeDeeperThanAMinibatchHasMicrobatches) {
  const Planned planned = plan_of("2bw", {.layers = 6, .weights = 1'000'000}, flat(6, 1e7),
                                  {.microbatches = 2, .accumulate = 3});
  EXPECT_GT(planned.plan.stages.size(), 2U);
  EXPECT_FALSE(why_refused(find_system("2bw"), planned.plan).has_value());
}

TEST(Accumulation, IsPassedOnByAutoWhichLeavesDpAspOut) {
  const profile::Profile profile = profile_of({.layers = 8});
  const Model model(profile);
  const Choice choice = plan_for_all(model, flat(4), {.accumulate = 4});
  for (const Candidate& candidate : choice.candidates) {
    if (const auto* planned = std::get_if<Planned>(&candidate.result)) {
      EXPECT_EQ(planned->plan.accumulate, 4) << candidate.system->name;
      EXPECT_EQ(planned->answer.prediction.minibatches_per_update,
                4.0 * static_cast<double>(planned->plan.stages.front().workers.size()));
    } else {
      EXPECT_EQ(candidate.system->name, "dp-asp");
      EXPECT_EQ(std::get<plan::Refusal>(candidate.result).why,
                "`accumulate`: each minibatch is an update");
    }
  }
}

TEST(Accumulation, IsRefusedForPlansOfAsynchronousDataParallelism) {
  plan::Plan plan = plan_of("dp-asp", {.layers = 2}, flat(2)).plan;
  plan.accumulate = 2;
  EXPECT_EQ(test::message_of<CannotMeet>([&] { (void)schedule_for(plan, {}); }),
            "a plan 2 for dp-asp: every minibatch is an update, so it cannot accumulate the "
            "gradients of 2");
}

TEST(Accumulation, IsLimited) {
  EXPECT_EQ(test::message_of<BadUsage>(
                [] { (void)plan_chain("pipedream", {}, flat(2), {.accumulate = 1025}); }),
            "`accumulate`: wanted 1 to 1024 minibatches, found 1025");
}

}  // namespace
}  // namespace pipedream::systems
