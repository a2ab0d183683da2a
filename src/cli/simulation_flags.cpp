#include "cli/simulation_flags.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "cli/flags.h"
#include "core/error.h"
#include "core/text.h"
#include "report/plan_table.h"

namespace pipedream::cli {
namespace {

constexpr double kSlowest = 0.001;
constexpr double kFastest = 1000;

Straggler straggler_of(const std::string& text, int workers) {
  Straggler straggler;
  const char* end = text.data() + text.size();
  const auto [colon, bad_worker] = std::from_chars(text.data(), end, straggler.worker.value);
  if (bad_worker == std::errc{} && colon != end && *colon == ':') {
    const auto [stop, bad_speed] = std::from_chars(colon + 1, end, straggler.speed);
    const bool sensible = straggler.speed >= kSlowest && straggler.speed <= kFastest;
    if (bad_speed == std::errc{} && stop == end && sensible && straggler.worker.value >= 0) {
      if (straggler.worker.value < workers) return straggler;
      throw BadUsage("--straggler " + text + ": there are only " +
                     counted(workers, "worker", "workers"));
    }
  }
  throw BadUsage(
      "--straggler: wanted WORKER:SPEED, e.g. 3:0.5 for half the speed (0.001 to 1000), "
      "found '" +
      text + "'");
}

bool uses(const plan::Plan& plan, WorkerId worker) {
  return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const plan::Stage& stage) {
    return std::find(stage.workers.begin(), stage.workers.end(), worker) != stage.workers.end();
  });
}

}  // namespace

void add_simulation_flags(CLI::App& command, const std::shared_ptr<SimulationFlags>& flags) {
  command
      .add_option("--minibatches", flags->minibatches,
                  "How many to simulate [enough to see the steady state]")
      ->check(range<std::int64_t>(1, kMostSimulated, kWholeNumber));
  add_condition_flags(command, flags);
  command.add_option("--seed", flags->seed, "Of the random numbers behind --jitter [0]")
      ->check(range<std::int64_t>(0, kMostSeed, kWholeNumber));
}

void add_condition_flags(CLI::App& command, const std::shared_ptr<SimulationFlags>& flags) {
  command.add_flag("--no-loading", flags->no_loading,
                   "Leave out the time to read data, as the planners do");
  command.add_option("--straggler", flags->stragglers,
                     "A worker of another speed, e.g. 3:0.5; may be given several times");
  command
      .add_option("--jitter", flags->jitter,
                  "Percent by which the time of each op varies at random [0]")
      ->check(range<double>(0, 100, "a number"));
}

void add_weight_flags(CLI::App& command, const std::shared_ptr<WeightFlags>& flags) {
  command.add_flag("--vertical-sync", flags->vertical_sync,
                   "Every stage uses the weights that the first one used (" +
                       systems::who_knows(systems::Option::kVerticalSync) + ")");
  command.add_flag("--no-stash", flags->no_stash,
                   "Keep no old weights: forward and backward differ (" +
                       systems::who_knows(systems::Option::kNoStash) + ", for study)");
}

void take_over(const WeightFlags& flags, systems::ScheduleOptions& options) {
  options.vertical_sync = flags.vertical_sync;
  options.no_stash = flags.no_stash;
}

void take_over(const systems::Wishes& planning, systems::SimulationWishes& simulation) {
  simulation.conditions.exchange = planning.exchange.value_or(cost::Exchange::kRing);
  simulation.optimiser_copies = planning.optimiser_copies;
}

std::vector<std::string> unused_stragglers(const SimulationFlags& flags,
                                           const systems::SimulationWishes& wishes,
                                           const std::vector<const plan::Plan*>& plans) {
  std::vector<std::string> lines;
  const auto& stragglers = wishes.conditions.stragglers;
  for (std::size_t i = 0; i < stragglers.size(); ++i) {
    std::vector<std::string> names;
    for (const plan::Plan* plan : plans)
      if (!uses(*plan, stragglers[i].worker))
        names.push_back(plan->system + " " + report::short_config(plan::config_text(*plan)));
    if (!names.empty())
      lines.push_back("--straggler " + flags.stragglers[i] + ": " + joined(names) +
                      (names.size() == 1 ? " does" : " do") +
                      " not use that worker, so it changes nothing there");
  }
  return lines;
}

std::vector<Straggler> stragglers_of(const std::vector<std::string>& texts, int workers) {
  std::vector<Straggler> stragglers;
  std::set<WorkerId> seen;
  for (const std::string& text : texts) {
    stragglers.push_back(straggler_of(text, workers));
    if (!seen.insert(stragglers.back().worker).second)
      throw BadUsage("--straggler " + text + ": that worker was named before");
  }
  return stragglers;
}

systems::SimulationWishes simulation_wishes(const SimulationFlags& flags,
                                            const cluster::Cluster& cluster) {
  systems::SimulationWishes wishes;
  wishes.schedule_options.minibatches = flags.minibatches;
  take_over(flags, wishes.schedule_options);
  wishes.conditions.loading = !flags.no_loading;
  wishes.conditions.jitter = flags.jitter / 100;
  wishes.conditions.seed = flags.seed;
  wishes.conditions.stragglers = stragglers_of(flags.stragglers, cluster.workers());
  return wishes;
}

}  // namespace pipedream::cli
