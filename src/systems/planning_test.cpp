#include "systems/planning.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "systems/unit_case.h"

namespace pipedream::systems {
namespace {

using test::message_of;

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
  EXPECT_EQ(one.find("--system mp: no layer"), 0U) << one;
}

TEST(Planning, APlanFileHasWhatWasPredicted) {
  const UnitCase made = unit_case({.replicas = {1, 1}});
  const Planned planned =
      plan_with("pipedream", Model(made.profile), made.cluster, {.straight = true}).planned;
  const plan::PlanFile file = plan_file_of(planned, made.profile, 2, Seconds(3));
  EXPECT_EQ(file.workers, 2);
  EXPECT_EQ(file.predicted.seconds_per_minibatch, planned.time().count());
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
