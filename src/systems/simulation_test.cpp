#include "systems/simulation.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cost/memory.h"
#include "plan/stage_size.h"
#include "schedule/one_f_one_b.h"
#include "systems/chain_testing.h"
#include "systems/unit_case.h"

namespace pipedream::systems {
namespace {

Simulated simulated(const UnitWishes& wishes, const SimulationWishes& how = {}) {
  const UnitCase made = unit_case(wishes);
  return simulate_plan(made.plan, made.profile, made.cluster, how);
}

constexpr double kUnits = 1e-6;  // kUnit in seconds

// An item takes three units on each of S stages. Without a flush, an item is done every 3 units.
// With a flush after M items, M items take (M + S − 1)·3 units. One minibatch at a time takes S·3
// units. With replicas, several minibatches are done in this time.
TEST(SimulatePlan, RatesAreThoseOfTheClosedForms) {
  const auto rate = [](const UnitWishes& wishes) {
    return simulated(wishes).minibatches_per_second * kUnits;
  };
  EXPECT_NEAR(rate({.replicas = {1, 1, 1, 1}}), 1 / 3.0, 1e-12);
  EXPECT_NEAR(rate({.system = "2bw", .replicas = {1, 1, 1, 1}, .microbatches = 4}), 1 / 12.0,
              1e-12);
  EXPECT_NEAR(rate({.system = "mp", .replicas = {1, 1, 1, 1}}), 1 / 12.0, 1e-12);
  for (const char* system : {"gpipe", "dapple"})
    EXPECT_NEAR(rate({.system = system, .replicas = {1, 1, 1, 1}, .microbatches = 8}),
                1 / (11 * 3.0), 1e-12)
        << system;
  EXPECT_NEAR(rate({.system = "interleaved", .replicas = {1, 1, 1, 1}, .microbatches = 8}),
              1 / ((16 + 3) * 3.0), 1e-12);
  EXPECT_NEAR(rate({.system = "dp-bsp", .replicas = {5}}), 5 / 3.0, 1e-12);
  EXPECT_NEAR(rate({.system = "dp-asp", .replicas = {5}}), 5 / 3.0, 1e-12);
  EXPECT_NEAR(rate({.replicas = {2, 2}}), 2 / 3.0, 1e-12);
  EXPECT_NEAR(rate({.replicas = {2, 1}}), 1 / 3.0, 1e-12);
  EXPECT_NEAR(rate({.system = "dapple", .replicas = {2, 2}, .microbatches = 8}), 2 / (9 * 3.0),
              1e-12)
      << "a minibatch for each replica of the first stage";
}

// With K minibatches per update, pipelines that flush for each update do so K times less often, but
// gpipe drains after each minibatch, so that it keeps only the activations of one.
TEST(SimulatePlan, RatesWithSeveralMinibatchesPerUpdateAreThoseOfTheClosedForms) {
  const auto rate = [](const UnitWishes& wishes) {
    return simulated(wishes).minibatches_per_second * kUnits;
  };
  const std::vector<int> four{1, 1, 1, 1};
  for (const int k : {2, 3}) {
    EXPECT_NEAR(rate({.replicas = four, .accumulate = k}), 1 / 3.0, 1e-12);
    EXPECT_NEAR(rate({.system = "2bw", .replicas = four, .microbatches = 2, .accumulate = k}),
                1 / 6.0, 1e-12);
    EXPECT_NEAR(rate({.system = "mp", .replicas = four, .accumulate = k}), 1 / 12.0, 1e-12);
    EXPECT_NEAR(rate({.system = "gpipe", .replicas = four, .microbatches = 8, .accumulate = k}),
                1 / (11 * 3.0), 1e-12);
    EXPECT_NEAR(rate({.system = "dapple", .replicas = four, .microbatches = 8, .accumulate = k}),
                k / ((8 * k + 3) * 3.0), 1e-12);
    EXPECT_NEAR(
        rate({.system = "interleaved", .replicas = four, .microbatches = 8, .accumulate = k}),
        k / ((16 * k + 3) * 3.0), 1e-12);
    EXPECT_NEAR(rate({.system = "dp-bsp", .replicas = {5}, .accumulate = k}), 5 / 3.0, 1e-12);
    EXPECT_NEAR(rate({.replicas = {2, 1}, .accumulate = k}), 1 / 3.0, 1e-12);
  }
}

// An item's way through S stages takes S·3 units. The first period of 3 units counts as training,
// or of r·3/r units for r replicas that begin together.
TEST(SimulatePlan, ADrainCostsTheRestOfAnItemsWay) {
  const auto drain = [](const UnitWishes& wishes, std::int64_t minibatches = 0) {
    return simulated(wishes, {.schedule_options = {.minibatches = minibatches}}).drain->count() /
           kUnits;
  };
  EXPECT_NEAR(drain({.replicas = {1, 1, 1, 1}}), 9, 1e-9);
  for (const std::int64_t minibatches : {40, 400})
    EXPECT_NEAR(drain({.replicas = {1, 1, 1, 1}}, minibatches), 9, 1e-9) << "whatever the length";
  EXPECT_NEAR(drain({.system = "2bw", .replicas = {1, 1, 1, 1}, .microbatches = 4}), 9, 1e-9);
  EXPECT_NEAR(drain({.replicas = {2, 2}}), 3, 1e-9);
  EXPECT_NEAR(drain({.replicas = {1}}), 0, 1e-9);
  for (const char* system : {"gpipe", "dapple", "mp"})
    EXPECT_NEAR(drain({.system = system, .replicas = {1, 1, 1, 1}, .microbatches = 8}), 0, 1e-9)
        << system << " drains for every update anyway";
}

TEST(SimulatePlan, TellsHowFarItIs) {
  std::vector<double> shares;
  SimulationWishes how{.schedule_options = {.minibatches = 3000}};
  how.progress = [&](double share) { shares.push_back(share); };
  (void)simulated({.replicas = {1, 1}}, how);
  ASSERT_GE(shares.size(), 10u);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_LT(shares.front(), 0.2);
  EXPECT_GT(shares.back(), 0.8);
  EXPECT_LT(shares.back(), 1);
}

TEST(SimulatePlan, SamplesAreCountedWhereTheProfileSaysHowManyThereAre) {
  UnitCase made = unit_case({.system = "dp-bsp", .replicas = {4}});
  EXPECT_FALSE(simulate_plan(made.plan, made.profile, made.cluster, {}).samples_per_second);
  EXPECT_EQ(simulate_plan(made.plan, made.profile, made.cluster, {}).samples_per_update, 4);
  made.profile.batch = 32;
  const Simulated known = simulate_plan(made.plan, made.profile, made.cluster, {});
  EXPECT_NEAR(*known.samples_per_second * kUnits, 32 * 4 / 3.0, 1e-9);
  EXPECT_EQ(known.samples_per_update, 4 * 32);
  made.plan.system = "dp-asp";
  EXPECT_EQ(simulate_plan(made.plan, made.profile, made.cluster, {}).samples_per_update, 32)
      << "every minibatch is an update";
}

// This holds both for replicas that take minibatches in turn and for replicas that share them.
TEST(SamplesPerUpdate, AreThoseOfAllReplicasOfTheFirstStage) {
  for (const char* system : {"pipedream", "dapple"}) {
    const UnitCase made = unit_case({.system = system, .replicas = {2, 1}, .microbatches = 1});
    const schedule::Schedule schedule = schedule_for(made.plan, {.minibatches = 4});
    EXPECT_EQ(samples_per_update(made.plan, schedule.rules.traits, 32), 64) << system;
    plan::Plan accumulating = made.plan;
    accumulating.accumulate = 3;
    EXPECT_EQ(samples_per_update(accumulating, schedule.rules.traits, 32), 192) << system;
  }
}

TEST(SimulatePlan, BytesPerMinibatchAreThoseOfAllLinks) {
  UnitCase made = unit_case({.system = "dp-bsp", .replicas = {4}});
  made.profile.costs[0].weights = Bytes{1000};
  EXPECT_NEAR(simulate_plan(made.plan, made.profile, made.cluster, {}).bytes_per_minibatch,
              2 * 3 * 1000 / 4.0, 1e-6)
      << "2(m−1)·W for each update of m minibatches";
  made.plan.accumulate = 5;
  EXPECT_NEAR(simulate_plan(made.plan, made.profile, made.cluster, {}).bytes_per_minibatch,
              2 * 3 * 1000 / 20.0, 1e-6);
}

// Returns every system with each number of minibatches per update that it can have.
std::vector<std::pair<System, int>> systems_that_accumulate(const std::vector<int>& numbers) {
  std::vector<std::pair<System, int>> all;
  for (const System& system : all_systems())
    for (const int accumulate : numbers)
      if (accumulate == 1 || knows(system, Option::kAccumulate))
        all.emplace_back(system, accumulate);
  return all;
}

// The simulated memory is what the memory model says for the predicted peak counts.
TEST(SimulatePlan, MemoryIsThatOfThePeaksOfEachWorkersStage) {
  for (const auto& [system, accumulate] : systems_that_accumulate({1, 2, 3})) {
    if (system.traits.several_stages_per_worker) continue;
    UnitCase made =
        unit_case({.system = system.name,
                   .replicas = system.traits.one_stage ? std::vector{2} : std::vector{1, 1, 1},
                   .microbatches = 3,
                   .accumulate = accumulate});
    for (profile::LayerCost& cost : made.profile.costs) {
      cost.weights = Bytes{1000};
      cost.stash = Bytes{300};
    }
    const Simulated found =
        simulate_plan(made.plan, made.profile, made.cluster, {.optimiser_copies = 2});
    std::vector<Bytes> wanted(static_cast<std::size_t>(made.cluster.workers()));
    for (std::size_t s = 0; s < made.plan.stages.size(); ++s) {
      const plan::Stage& stage = made.plan.stages[s];
      const cost::PeakCounts counts =
          cost::peak_counts(system.traits, stage.depth, static_cast<int>(stage.workers.size()),
                            {made.plan.microbatches, accumulate});
      for (const WorkerId worker : stage.workers)
        wanted[worker.index()] +=
            cost::stage_memory(plan::stage_size(made.profile, stage.layers), counts,
                               {2, 1.0 / made.plan.microbatches, false})
                .total();
    }
    EXPECT_EQ(found.memory, wanted) << system.name;
  }
}

// All stages are on one worker, and there is one item. While one stage runs its backward, the
// earlier stages still have the item in flight, and the later stages already have gradients.
TEST(SimulatePlan, MemoryOfSeveralStagesIsThatOfTheWorstMoment) {
  UnitCase made = unit_case({.system = "interleaved", .replicas = {1, 1}, .microbatches = 1});
  for (plan::Stage& stage : made.plan.stages) stage.workers = {WorkerId{0}};
  for (profile::LayerCost& cost : made.profile.costs) {
    cost.weights = Bytes{1000};
    cost.stash = Bytes{300};
  }
  const cost::MemoryRule rule{2, 1, false};
  const std::size_t stages = made.plan.stages.size();
  ASSERT_GT(stages, 1U);
  Bytes wanted;
  for (std::size_t runs = 0; runs < stages; ++runs) {
    Bytes now;
    for (std::size_t s = 0; s < stages; ++s) {
      const cost::StageSize size = plan::stage_size(made.profile, made.plan.stages[s].layers);
      const cost::PeakCounts resting{.gradients = s > runs ? 1 : 0, .in_flight = s < runs ? 1 : 0};
      now += (s == runs ? cost::stage_memory(size, {}, rule)
                        : cost::resting_memory(size, resting, rule))
                 .total();
    }
    wanted = std::max(wanted, now);
  }
  const Simulated found =
      simulate_plan(made.plan, made.profile, made.cluster, {.optimiser_copies = 2});
  EXPECT_EQ(found.memory.front(), wanted);
}

TEST(SimulatePlan, ATimelineIsKeptWhenAskedFor) {
  const UnitWishes wishes{.replicas = {1, 1}};
  EXPECT_TRUE(simulated(wishes).timeline.events.empty());
  EXPECT_FALSE(simulated(wishes, {.keep_timeline = true}).timeline.events.empty());
}

TEST(SimulatePlan, ASchedulesOwnMayTakeThePlaceOfTheSystems) {
  const UnitCase made = unit_case({.replicas = {1, 1}});
  plan::Plan deeper = made.plan;
  deeper.stages[0].depth = 4;
  const auto own = one_f_one_b(deeper, schedule::whole_minibatches(deeper, 20));
  const Simulated found = simulate_plan(
      made.plan, made.profile, made.cluster,
      {.schedule_options = {.minibatches = 20}, .keep_timeline = true, .schedule = &own});
  std::int64_t before = 0;  // forwards before the first backward of worker 0
  for (const timeline::Event& event : found.timeline.events) {
    if (event.worker != WorkerId{0}) continue;
    if (std::holds_alternative<schedule::Backward>(event.op)) break;
    before += std::holds_alternative<schedule::Forward>(event.op) ? 1 : 0;
  }
  EXPECT_EQ(before, 4);
}

TEST(EnoughMinibatches, AreWholeRoundsAndMoreThanFillThePipeline) {
  for (const auto& [system, accumulate] : systems_that_accumulate({1, 5}))
    for (const auto& replicas : {std::vector{1}, {3}, {7}}) {
      const UnitCase made = unit_case({.system = system.name,
                                       .replicas = {replicas},
                                       .microbatches = 4,
                                       .accumulate = accumulate});
      const std::int64_t enough = enough_minibatches(made.plan);
      EXPECT_EQ(enough % accumulate, 0) << system.name;
      if (!system.traits.shares_items()) {
        EXPECT_EQ(enough % (replicas[0] * accumulate), 0) << system.name;
      }
      EXPECT_GE(enough, 4);
    }
  const plan::Plan deep = unit_case({.replicas = std::vector<int>(20, 1)}).plan;
  EXPECT_GE(enough_minibatches(deep), 10 * 20);
}

// Two layers that do not depend on each other, of 1 and 2 ms forward and as much backward, each on
// a worker of its own. Neither waits for the other, so the slower one says how fast training is.
TEST(SimulatePlan, TheSlowestEndOfANetworkWithSeveralSetsTheRate) {
  for (const bool slow_first : {false, true}) {
    graph::Builder builder;
    profile::Profile profile;
    for (const bool slow : {slow_first, !slow_first}) {
      builder.add_layer(slow ? "slow" : "fast", "", {{"out", {}, Bytes{1}}});
      profile::LayerCost cost;
      cost.forward = cost.backward = std::chrono::milliseconds(slow ? 2 : 1);
      profile.costs.push_back(cost);
    }
    profile.graph = std::move(builder).build();
    const plan::Plan plan{.stages = {{{LayerId{0}}, {WorkerId{0}}, 2, false},
                                     {{LayerId{1}}, {WorkerId{1}}, 1, false}},
                          .system = "pipedream"};
    EXPECT_NEAR(simulate_plan(plan, profile, flat(2), {}).minibatches_per_second, 1 / 4e-3, 1e-6);
  }
}

// Averaging takes 30 % longer than compute. Gradients wait in a second buffer, so compute is held
// back only when averaging is a whole round late.
TEST(SimulatePlan, TheRateIsThatOfTheSteadyStateIfAveragingComesLate) {
  const Planned planned = plan_of("pipedream", {.layers = 1, .weights = 13'000}, flat(4, 5e6), {});
  ASSERT_EQ(planned.plan.stages.size(), 1U);
  ASSERT_EQ(planned.plan.stages.front().workers.size(), 4U);
  ASSERT_EQ(planned.answer.prediction.limit, plan::Limit::kExchange);
  EXPECT_NEAR(*planned.times.simulated / planned.times.predicted, 1, 1e-3);
}

TEST(SimulatePlan, OneMinibatchIsEnoughForARate) {
  const Simulated found = simulated({.system = "gpipe", .replicas = {1, 1}, .microbatches = 2},
                                    {.schedule_options = {.minibatches = 1}});
  EXPECT_NEAR(found.minibatches_per_second * kUnits, 1 / 9.0, 1e-12);
}

TEST(SimulatePlan, APartOfAnUpdateIsEnoughForARate) {
  for (const char* system : {"pipedream", "dp-bsp"})
    EXPECT_NEAR(simulated({.system = system, .replicas = {2}, .accumulate = 16},
                          {.schedule_options = {.minibatches = 6}})
                        .minibatches_per_second *
                    kUnits,
                2 / 3.0, 1e-12)
        << system;
}

// A pipeline that fills and drains is idle for (S−1)/(M+S−1) of the time.
TEST(SimulatePlan, UtilisationIsWhatIsNotIdle) {
  EXPECT_NEAR(simulated({.system = "gpipe", .replicas = {1, 1, 1, 1}, .microbatches = 16})
                  .summary.utilisation(),
              16 / 19.0, 1e-12);
}

}  // namespace
}  // namespace pipedream::systems
