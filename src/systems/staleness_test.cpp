#include "systems/staleness.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "core/file.h"
#include "core/text.h"
#include "systems/measured.h"
#include "systems/simulation.h"
#include "systems/unit_case.h"

namespace pipedream::systems {
namespace {

// Returns the largest staleness of each stage in a simulated run, which is long enough for the
// steady state.
std::vector<int> seen(const UnitCase& made, ScheduleOptions options) {
  options.minibatches = 48 * made.plan.accumulate;
  const Simulated run = simulate_plan(made.plan, made.profile, made.cluster,
                                      {.schedule_options = options, .keep_timeline = true});
  std::vector<int> most;
  for (const Staleness& of : staleness_of(run.timeline.events, made.plan.stages.size()))
    most.push_back(static_cast<int>(of.most));
  return most;
}

// Asynchronous systems are left out, because their staleness depends on timing.
TEST(ExpectedStaleness, IsWhatEveryScheduleHas) {
  for (const System& system : all_systems()) {
    if (system.traits.asynchronous) continue;
    const bool replicates = system.traits.replicas != cost::Replicas::kNone;
    for (const std::vector<int>& replicas :
         {std::vector{1}, {1, 1}, {1, 1, 1, 1}, {2}, {3}, {2, 2}, {2, 1}, {1, 3}, {3, 2, 1}}) {
      const bool straight = *std::max_element(replicas.begin(), replicas.end()) == 1;
      if (!straight && !replicates) continue;
      if (system.traits.one_stage && replicas.size() > 1) continue;
      for (const int accumulate : {1, 2, 3, 5}) {
        const UnitCase made = unit_case({.system = system.name,
                                         .replicas = replicas,
                                         .microbatches = 4,
                                         .accumulate = accumulate});
        if (why_refused(system, made.plan)) continue;
        EXPECT_EQ(expected_staleness(made.plan, system.traits), seen(made, {}))
            << system.name << " " << plan::config_text(made.plan) << ", " << accumulate
            << " minibatches per update";
      }
    }
  }
}

TEST(ExpectedStaleness, OfVerticalSyncIsTheFirstStagesEverywhere) {
  const UnitCase made = unit_case({.system = "pipedream", .replicas = {1, 1, 1}});
  cost::Traits traits = find_system("pipedream").traits;
  traits.versions = cost::WeightVersions::kVerticalSync;
  EXPECT_EQ(expected_staleness(made.plan, traits), (std::vector{2, 2, 2}));
  EXPECT_EQ(seen(made, {.vertical_sync = true}), (std::vector{2, 2, 2}));
  const UnitCase two =
      unit_case({.system = "pipedream", .replicas = {1, 1, 1, 1}, .accumulate = 2});
  EXPECT_EQ(expected_staleness(two.plan, traits), (std::vector{2, 2, 2, 2}));
  EXPECT_EQ(seen(two, {.vertical_sync = true}), (std::vector{2, 2, 2, 2}));
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

// Returns whether gradient descent with momentum on a parabola converges if gradients are d updates
// old: w(t+1) = w(t) + β·(w(t) − w(t−1)) − v·h·w(t−d).
bool converges(double momentum, int delay, double rate_times_curvature) {
  constexpr int kUpdates = 40'000;
  std::vector<double> weights(static_cast<std::size_t>(delay) + 2, 1);
  for (int t = 0; t < kUpdates; ++t) {
    const double now = weights.back();
    const double before = weights[weights.size() - 2];
    const double old = weights[weights.size() - 1 - static_cast<std::size_t>(delay)];
    weights.push_back(now + momentum * (now - before) - rate_times_curvature * old);
    weights.erase(weights.begin());
    if (std::abs(weights.back()) > 1e6) return false;
  }
  return std::abs(weights.back()) < 1e-3;
}

// Compares the limits with the table in docs/systems.md#stale-weights.
TEST(StaleWeights, LimitTheLearningRateAsTheDocumentSays) {
  const std::map<double, std::vector<double>> limits{
      {0, {2, 1, 0.618, 0.445}}, {0.5, {3, 0.5, 0.281, 0.199}}, {0.9, {3.8, 0.1, 0.051, 0.035}}};
  const std::string document = read_file(PD_SOURCE_DIR "/docs/systems.md");
  for (const auto& [momentum, by_delay] : limits) {
    std::string line = "| " + brief_number(momentum) + " |";
    for (std::size_t delay = 0; delay < by_delay.size(); ++delay) {
      line += " " + brief_number(by_delay[delay]) + " |";
      EXPECT_TRUE(converges(momentum, static_cast<int>(delay), 0.98 * by_delay[delay])) << line;
      EXPECT_FALSE(converges(momentum, static_cast<int>(delay), 1.02 * by_delay[delay])) << line;
    }
    EXPECT_NE(document.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace pipedream::systems
