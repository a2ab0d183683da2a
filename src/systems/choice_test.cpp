#include "systems/choice.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "systems/chain_testing.h"
#include "systems/unit_case.h"

namespace pipedream::systems {
namespace {

using test::message_of;

Choice choose(const Chain& chain, const cluster::Cluster& cluster, const Wishes& wishes = {}) {
  const profile::Profile profile = profile_of(chain);
  const Model model(profile);
  return plan_for_all(model, cluster, wishes);
}

std::string chosen(const Choice& choice) {
  return choice.best ? choice.candidates[*choice.best].system->name : "none";
}

// Returns the predicted time of `system` in seconds; nullopt if it has no plan.
std::optional<double> time_of(const Choice& choice, const std::string& system) {
  for (const Candidate& candidate : choice.candidates)
    if (const auto* planned = std::get_if<Planned>(&candidate.result);
        planned != nullptr && planned->system == system)
      return planned->times.predicted.count();
  return std::nullopt;
}

TEST(Auto, LeavesOutOptionsThatMeanNothingToASystem) {
  for (const Wishes& wishes : {Wishes{.straight = true},
                               {.recompute = false},
                               {.microbatches = 4},
                               {.balance = plan::Balance::kSize},
                               {.hierarchical = true}}) {
    const Choice choice = choose({}, flat(4), wishes);
    EXPECT_EQ(choice.candidates.size(), all_systems().size());
    EXPECT_TRUE(choice.best.has_value());
  }
}

// Options that a system meets anyway are not passed over: plans of pipedream and mp never
// recompute, and plans of mp have no replicas.
TEST(Auto, NamesTheOptionsThatItPassesOver) {
  Wishes wishes;
  wishes.microbatches = 4;
  wishes.recompute = false;
  wishes.straight = true;
  wishes.depth = cost::Depth::kNoam;
  using Options = std::vector<Option>;
  EXPECT_EQ(passed_over(find_system("pipedream"), wishes), Options{Option::kMicrobatches});
  EXPECT_EQ(passed_over(find_system("mp"), wishes),
            (Options{Option::kMicrobatches, Option::kDepth}));
  EXPECT_EQ(passed_over(find_system("dapple"), wishes), Options{});
}

TEST(Auto, OneSystemThatCannotMeetAWishDoesNotStopTheOthers) {
  const Choice choice = choose({.layers = 8}, two_servers_of_two(), {.stages = 3});
  EXPECT_FALSE(time_of(choice, "torchgpipe").has_value());
  EXPECT_TRUE(time_of(choice, "gpipe").has_value());
}

TEST(Auto, TakesTheFastestWhereSpeedIsPreferred) {
  // Averaging 40 kB over 1 MB/s takes longer than all compute. So only pipelines are fast, and only
  // those without a flush keep all stages busy.
  const Choice choice =
      choose({.weights = 10'000, .out = 0}, flat(4, 1e6), {.prefer = Prefer::kSpeed});
  for (const System& system : all_systems()) {
    const auto time = time_of(choice, system.name);
    ASSERT_TRUE(time.has_value()) << system.name;
    EXPECT_LE(*time_of(choice, chosen(choice)), *time * (1 + 1e-12)) << system.name;
  }
  EXPECT_GT(*time_of(choice, "dp-bsp"), 1.01 * *time_of(choice, "pipedream"));
  EXPECT_GT(*time_of(choice, "dapple"), 1.01 * *time_of(choice, "pipedream"));
  EXPECT_DOUBLE_EQ(*time_of(choice, "pipedream"), 0.003);
}

TEST(Auto, PrefersTwoVersionsToMoreAmongEquals) {
  const Choice choice =
      choose({.weights = 10'000, .out = 0}, flat(4, 1e6), {.prefer = Prefer::kSpeed});
  EXPECT_DOUBLE_EQ(*time_of(choice, "2bw"), *time_of(choice, "pipedream"));
  EXPECT_EQ(chosen(choice), "2bw");
}

TEST(Auto, EvenForSpeedPrefersSynchronousTrainingAmongThoseAsFastToOneInAHundred) {
  // A step of data parallelism is 12 ms of compute and then the averaging of 2·(3/4)·40 bytes.
  // Nothing overlaps the averaging, because 40 bytes do not fill a bucket.
  const Choice close = choose({}, flat(4, 60 / 100e-6), {.prefer = Prefer::kSpeed});
  EXPECT_DOUBLE_EQ(*time_of(close, "dp-bsp"), (12e-3 + 100e-6) / 4);
  EXPECT_DOUBLE_EQ(*time_of(close, "pipedream"), 3e-3);
  EXPECT_EQ(chosen(close), "dp-bsp");
  const Choice apart = choose({}, flat(4, 60 / 150e-6), {.prefer = Prefer::kSpeed});
  EXPECT_DOUBLE_EQ(*time_of(apart, "dp-bsp"), (12e-3 + 150e-6) / 4);
  EXPECT_EQ(chosen(apart), "2bw");
}

// A step of data parallelism is 12 ms of compute and then an averaging that nothing overlaps.
// Dapple's best pipeline has a bubble of 3 items in 16. The stale systems have neither, so they are
// faster by the averaging or by the bubble, whichever is shorter.
TEST(Auto, TakesStaleWeightsOnlyForAQuarterMoreSpeed) {
  const auto slower_by = [](double factor) { return flat(4, 60 / (12e-3 * (factor - 1))); };
  for (const double factor : {1.02, 1.1, 1.18}) {
    const Choice close = choose({}, slower_by(factor));
    EXPECT_GT(*time_of(close, "dp-bsp"), 1.01 * *time_of(close, "2bw")) << factor;
    EXPECT_FALSE(find_system(chosen(close)).traits.is_stale()) << chosen(close);
  }
  // With four microbatches the bubble is 3 of 7 items.
  const Wishes few{.microbatches = 4};
  const Chain heavy{.weights = 10'000, .out = 0};
  const Choice apart = choose(heavy, flat(4, 1e6), few);
  EXPECT_GT(*time_of(apart, "dapple"), kWorthStaleness * *time_of(apart, "pipedream"));
  EXPECT_TRUE(find_system(chosen(apart)).traits.is_stale()) << chosen(apart);
  const Choice exact = choose(heavy, flat(4, 1e6), {.prefer = Prefer::kExact, .microbatches = 4});
  EXPECT_FALSE(find_system(chosen(exact)).traits.is_stale()) << chosen(exact);
}

// No chain was found for which only stale systems have a plan, so the plans of all others are taken
// away.
TEST(Auto, TakesStaleWeightsWhereNothingElseFits) {
  Choice choice = choose({}, flat(4));
  for (Candidate& candidate : choice.candidates)
    if (!candidate.system->traits.is_stale()) candidate.result = plan::Refusal{"too large", {}};
  for (const Prefer prefer : {Prefer::kBalanced, Prefer::kSpeed}) {
    choice.best = chosen(choice.candidates, prefer);
    ASSERT_TRUE(choice.best.has_value());
    EXPECT_TRUE(find_system(chosen(choice)).traits.is_stale()) << chosen(choice);
  }
  EXPECT_FALSE(chosen(choice.candidates, Prefer::kExact).has_value());
}

// Times by different cost models cannot be compared.
TEST(Auto, ConsidersOnlySystemsThatKnowTheCostModel) {
  const Choice choice = choose({}, flat(4), {.cost_model = cost::CostModel::kPaper});
  for (const Candidate& candidate : choice.candidates)
    EXPECT_EQ(std::holds_alternative<Planned>(candidate.result),
              knows(*candidate.system, Option::kCostModel))
        << candidate.system->name;
  EXPECT_TRUE(choice.best.has_value());
}

// The time of interleaved is an estimate, and the staleness of dp-asp depends on timing.
TEST(Auto, NeverTakesInterleavedOrAsynchronousTraining) {
  for (const char* never : {"interleaved", "dp-asp"})
    EXPECT_FALSE(find_system(never).preference.has_value()) << never;
  for (const double bandwidth : {1e3, 1e6, 1e12})
    for (const std::int64_t weights : {0, 10, 100'000})
      for (const int layers : {1, 4, 16}) {
        const Choice choice = choose({.layers = layers, .weights = weights}, flat(4, bandwidth));
        EXPECT_NE(chosen(choice), "interleaved");
        EXPECT_NE(chosen(choice), "dp-asp");
        EXPECT_TRUE(time_of(choice, "interleaved").has_value()) << "planned all the same";
        EXPECT_TRUE(time_of(choice, "dp-asp").has_value());
      }
}

TEST(Auto, LeavesOutWhatDoesNotFit) {
  // Data parallelism would be chosen, but its 3 · 40 bytes of weights, gradients and optimiser
  // state do not fit.
  EXPECT_EQ(chosen(choose({}, flat(4))), "dp-bsp");
  const Choice choice = choose({}, flat(4), {.memory = Bytes{100}});
  EXPECT_FALSE(time_of(choice, "dp-bsp").has_value());
  ASSERT_TRUE(choice.best.has_value());
  EXPECT_NE(chosen(choice), "dp-bsp");
  for (const Candidate& candidate : choice.candidates)
    if (const auto* refusal = std::get_if<plan::Refusal>(&candidate.result)) {
      EXPECT_NE(refusal->why, "");
    }
}

TEST(Auto, ChoosesNothingWhereNothingFits) {
  const Choice choice = choose({}, flat(4), {.memory = Bytes{1}});
  EXPECT_FALSE(choice.best.has_value());
  EXPECT_EQ(choice.candidates.size(), all_systems().size());
  for (const Candidate& candidate : choice.candidates) {
    const auto* refusal = std::get_if<plan::Refusal>(&candidate.result);
    ASSERT_NE(refusal, nullptr) << candidate.system->name;
    ASSERT_TRUE(refusal->nearest.has_value()) << candidate.system->name;
    EXPECT_GT(refusal->nearest->bytes, Bytes{0});
    EXPECT_NE(refusal->why.find(std::to_string(refusal->nearest->bytes.count) + " bytes"),
              std::string::npos);
  }
}

TEST(Planning, AutoSaysWhatItChoseFrom) {
  const UnitCase made = unit_case({.replicas = {1, 1}});
  const Model model(made.profile);
  const Decision decision = plan_with(kAutomatic, model, made.cluster, {});
  ASSERT_TRUE(decision.choice && decision.choice->best);
  EXPECT_EQ(decision.choice->candidates[*decision.choice->best].system->name,
            decision.planned.system);
}

TEST(Planning, OneSystemPlansAlone) {
  const UnitCase made = unit_case({.replicas = {1, 1}});
  const Decision decision =
      plan_with("pipedream", Model(made.profile), made.cluster, {.straight = true});
  EXPECT_EQ(decision.planned.system, "pipedream");
  EXPECT_FALSE(decision.choice);
}

TEST(Planning, WhereNobodyHasAPlanEverySystemSaysWhy) {
  UnitCase made = unit_case({.replicas = {1, 1}});
  for (profile::LayerCost& cost : made.profile.costs) cost.forward = cost.backward = Nanos{0};
  const Model model(made.profile);
  const std::string all =
      message_of<CannotMeet>([&] { (void)plan_with("auto", model, made.cluster, {}); });
  for (const System& system : all_systems())
    EXPECT_NE(all.find("\n  " + system.name + ": "), std::string::npos) << all;
  const std::string one =
      message_of<CannotMeet>([&] { (void)plan_with("mp", model, made.cluster, {}); });
  EXPECT_EQ(one.find("`system` mp: no layer"), 0U) << one;
}

}  // namespace
}  // namespace pipedream::systems
