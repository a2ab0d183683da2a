#include "systems/staleness.h"

#include <gtest/gtest.h>

#include "systems/measured.h"
#include "systems/simulation.h"
#include "systems/unit_case.h"

namespace pipedream::systems {
namespace {

// What the simulated run of so many minibatches shows, which is far beyond its beginning.
std::vector<int> seen(const UnitCase& made, ScheduleOptions options) {
  options.minibatches = 48;
  const Simulated run = simulate_plan(made.plan, made.profile, made.cluster,
                                      {.schedule_options = options, .keep_timeline = true});
  std::vector<int> most;
  for (const Staleness& of : staleness_of(run.timeline.events, made.plan.stages.size()))
    most.push_back(static_cast<int>(of.most));
  return most;
}

// Asynchronous workers count for themselves: what they meet depends on timing.
TEST(ExpectedStaleness, IsWhatEveryScheduleHas) {
  for (const System& system : all_systems()) {
    if (system.traits.asynchronous) continue;
    const bool replicates = system.traits.replicas != cost::Replicas::kNone;
    for (const std::vector<int>& replicas :
         {std::vector{1}, {1, 1}, {1, 1, 1, 1}, {2}, {3}, {2, 2}, {2, 1}, {1, 3}, {3, 2, 1}}) {
      const bool straight = *std::max_element(replicas.begin(), replicas.end()) == 1;
      if (!straight && !replicates) continue;
      if (system.traits.one_stage && replicas.size() > 1) continue;
      const UnitCase made =
          unit_case({.system = system.name, .replicas = replicas, .microbatches = 4});
      if (why_refused(system, made.plan)) continue;
      EXPECT_EQ(expected_staleness(made.plan, system.traits), seen(made, {}))
          << system.name << " " << plan::config_text(made.plan);
    }
  }
}

TEST(ExpectedStaleness, OfVerticalSyncIsTheFirstStagesEverywhere) {
  const UnitCase made = unit_case({.system = "pipedream", .replicas = {1, 1, 1}});
  cost::Traits traits = find_system("pipedream").traits;
  traits.versions = cost::WeightVersions::kVerticalSync;
  EXPECT_EQ(expected_staleness(made.plan, traits), (std::vector{2, 2, 2}));
  EXPECT_EQ(seen(made, {.vertical_sync = true}), (std::vector{2, 2, 2}));
}

TEST(StalenessNote, IsForStaleSystemsOnly) {
  for (const System& system : all_systems()) {
    const UnitCase made =
        unit_case({.system = system.name,
                   .replicas = system.traits.one_stage ? std::vector{2} : std::vector{1, 1},
                   .microbatches = 2});
    EXPECT_EQ(staleness_note(made.plan).has_value(), system.traits.is_stale()) << system.name;
  }
}

}  // namespace
}  // namespace pipedream::systems
