#include "cli/planning.h"

#include <charconv>
#include <iostream>

#include "cli/flags.h"
#include "cli/spelling.h"
#include "cluster/cluster_file.h"
#include "core/error.h"
#include "core/nearest.h"
#include "report/plan_table.h"
#include "train/this_machine.h"

namespace pipedream::cli {
namespace {

using systems::Option;
using systems::Planned;

// Refuses an empty value: most likely it comes from a shell variable that was not set.
std::string check_not_empty(const std::string& text) {
  return text.empty() ? "wanted a value, found nothing" : "";
}

// The systems that know `option`, for the help: " (gpipe, mp)".
std::string known_to(Option option) { return " (" + systems::who_knows(option) + ")"; }

// The index of `name` in `names`. Throws BadUsage if it is not there.
std::size_t position_of(const std::string& flag, const std::string& name,
                        const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return i;
  throw BadUsage(flag + ": there is no '" + name + "'" + suggestion(name, names));
}

Bytes memory_of(const std::string& text) {
  try {
    return parse_bytes(text);
  } catch (const BadValue& bad) {
    throw BadUsage(std::string("--memory: ") + bad.what());
  }
}

}  // namespace

void read_depth(const std::string& text, systems::Wishes& wishes) {
  if (text.empty() || text == "auto") return;
  if (text == "noam") {
    wishes.depth = cost::Depth::kNoam;
    return;
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, wishes.most_depth);
  if (error != std::errc{} || stop != end || wishes.most_depth < 1 ||
      wishes.most_depth > cost::kMostInFlight)
    throw BadUsage("--depth: wanted auto, noam or a number from 1 to " +
                   std::to_string(cost::kMostInFlight) + ", found '" + text + "'");
  wishes.depth = cost::Depth::kUpTo;
}

systems::Wishes wishes_of(const PlanningFlags& flags) {
  systems::Wishes wishes = flags.wishes;
  if (!flags.memory.empty()) wishes.memory = memory_of(flags.memory);
  if (!flags.cost_model.empty())
    wishes.cost_model = static_cast<cost::CostModel>(
        position_of("--cost-model", flags.cost_model, cost::cost_model_names()));
  if (!flags.prefer.empty())
    wishes.prefer = static_cast<systems::Prefer>(
        position_of("--prefer", flags.prefer, systems::prefer_names()));
  if (!flags.optimiser.empty())
    wishes.optimiser_copies = systems::optimiser_copies(flags.optimiser);
  if (!flags.exchange.empty())
    wishes.exchange =
        static_cast<cost::Exchange>(position_of("--exchange", flags.exchange, exchange_names()));
  if (!flags.balance.empty())
    wishes.balance =
        static_cast<plan::Balance>(position_of("--balance", flags.balance, {"time", "size"}));
  wishes.recompute = !flags.no_recompute;
  read_depth(flags.depth, wishes);
  return wishes;
}

Planned planned_for(const PlanningFlags& flags, const systems::Model& model,
                    const cluster::Cluster& cluster, std::string& table) {
  const systems::Wishes wishes = wishes_of(flags);
  systems::Decision decision = systems::plan_with(flags.system, model, cluster, wishes);
  if (decision.choice)
    table = with_flags(report::candidate_table(*decision.choice, model.profile)) + "\n";
  for (const std::string& line : systems::unmet_wishes(wishes, decision.planned))
    std::cerr << with_flags(line) << "\n";
  return std::move(decision.planned);
}

cluster::Cluster cluster_of(const PlanningFlags& flags, const profile::Profile& profile) {
  if (flags.cluster.empty() == !flags.workers)
    throw BadUsage(
        "wanted one of --cluster FILE and --workers N, for workers of this machine; found " +
        std::string(flags.workers ? "both" : "neither"));
  return flags.workers ? train::this_machine_for(profile, *flags.workers)
                       : cluster::read_cluster(flags.cluster);
}

void add_required_input_flags(CLI::App& command, const std::shared_ptr<PlanningFlags>& flags) {
  add_input_flags(command, flags);
  command.get_option("--profile")->required();
  command.add_option("--workers", flags->workers, "Workers of this machine, instead of --cluster")
      ->check(range<int>(1, cluster::kMostWorkers, kWholeNumber));
}

void add_input_flags(CLI::App& command, const std::shared_ptr<PlanningFlags>& flags) {
  command.add_option("--profile", flags->profile, "Profile: ours (JSON) or PipeDream's graph text");
  command.add_option("--cluster", flags->cluster, "Cluster file (TOML)");
  command
      .add_option("--batch", flags->batch,
                  "Samples of one minibatch, where the profile does not say")
      ->check(range<std::int64_t>(1, kMostSamples, kWholeNumber));
  command
      .add_option("--optimiser,--optimizer", flags->optimiser,
                  "sgd, momentum, adam or adamw: its state takes 0, 1, 2 or 2 × the weights "
                  "[momentum]")
      ->check(check_not_empty);
  command
      .add_option("--exchange", flags->exchange,
                  "How replicas average gradients: ring, all-to-all or ps" +
                      known_to(Option::kExchange) + " [ring]")
      ->check(check_not_empty);
}

std::vector<CLI::Option*> add_planning_flags(CLI::App& command,
                                             const std::shared_ptr<PlanningFlags>& flags) {
  const std::size_t before = command.get_options().size();
  command
      .add_option("--cost-model", flags->cost_model,
                  "default, paper or published" + known_to(Option::kCostModel) + " [default]")
      ->check(check_not_empty);
  command
      .add_option("--memory", flags->memory,
                  "The most a worker may use, where its device has more, e.g. 16GiB")
      ->check(check_not_empty);
  command
      .add_option(
          "--prefer", flags->prefer,
          "What --system auto may choose: exact: no system with stale weights; balanced: one "
          "only if it is at least 25 % faster; speed: the fastest [balanced]")
      ->check(check_not_empty);
  command.add_flag("--straight", flags->wishes.straight,
                   "No replicated stages" + known_to(Option::kStraight));
  command.add_flag("--hierarchical", flags->wishes.hierarchical,
                   "PipeDream's own planner instead of ours" + known_to(Option::kHierarchical));
  command
      .add_option("--depth", flags->depth,
                  "Minibatches in flight: auto, noam (the paper's) or a number" +
                      known_to(Option::kDepth) + " [auto]")
      ->check(check_not_empty);
  command
      .add_option("--stages", flags->wishes.stages, "Number of stages" + known_to(Option::kStages))
      ->check(range<int>(1, cluster::kMostWorkers, kWholeNumber));
  command
      .add_option("--split", flags->wishes.split,
                  "Layers before each cut, e.g. 3,7,12" + known_to(Option::kSplit))
      ->delimiter(',');
  command
      .add_option("--balance", flags->balance,
                  "What stages share evenly: time or size" + known_to(Option::kBalance) + " [time]")
      ->check(check_not_empty);
  command
      .add_option("--microbatches", flags->wishes.microbatches,
                  "Microbatches that each minibatch is cut into" + known_to(Option::kMicrobatches))
      ->check(range<int>(1, 1 << 20, kWholeNumber));
  command
      .add_option("--accumulate", flags->wishes.accumulate,
                  "Minibatches per update, on each input replica: gradient accumulation" +
                      known_to(Option::kAccumulate) + " [1]")
      ->check(range<int>(1, plan::kMostAccumulate, kWholeNumber));
  command.add_flag(
      "--no-recompute", flags->no_recompute,
      "Keep all activations instead of running forwards twice" + known_to(Option::kNoRecompute));
  const auto all = command.get_options();
  return {all.begin() + static_cast<std::ptrdiff_t>(before), all.end()};
}

CLI::Option* add_system_flag(CLI::App& command, const std::shared_ptr<PlanningFlags>& flags,
                             bool all) {
  std::string names = all ? "auto, all" : "auto";
  for (const systems::System& system : systems::all_systems()) names += ", " + system.name;
  return command.add_option("--system", flags->system, names + " [auto]");
}

}  // namespace pipedream::cli
