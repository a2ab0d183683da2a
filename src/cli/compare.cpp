// pipedream compare: all systems side by side on one model, simulated on a cluster or really run.
#include <algorithm>
#include <iostream>
#include <set>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/page_flags.h"
#include "cli/page_run.h"
#include "cli/planning.h"
#include "cli/simulation_flags.h"
#include "cli/spelling.h"
#include "cli/training.h"
#include "core/error.h"
#include "core/nearest.h"
#include "profile/profile_file.h"
#include "report/simulation_table.h"

namespace pipedream::cli {
namespace {

// Headings of the help. They also tell the flags for really running from those for simulating.
constexpr char kRunning[] = "With --run";
constexpr char kSimulating[] = "Without --run";

struct CompareFlags {
  std::shared_ptr<TrainFlags> training =
      std::make_shared<TrainFlags>();  // also has the flags that simulating uses
  std::shared_ptr<SimulationFlags> conditions = std::make_shared<SimulationFlags>();
  std::string page;
  bool run = false;
  bool evaluation = false;
};

// Minibatches of each system whose timelines fit one page, and the memory of a browser.
constexpr std::int64_t kMostOnPage = 10'000;

// Throws BadUsage for a flag for simulating if --run is given, or for a flag for running if not.
void refuse_other_half(const CompareFlags& flags, const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_group() != (flags.run ? kSimulating : kRunning))
      continue;
    throw BadUsage("compare " + option->get_name() +
                   (flags.run ? " is for simulating: leave out --run, or it"
                              : " is for --run, which really trains: add --run, or give --profile "
                                "FILE and --cluster FILE alone to simulate"));
  }
}

// Throws BadUsage for a flag of `train` that makes no sense if all systems are run.
void refuse_flags_of_train(const CLI::App& command) {
  const std::vector<std::string> known = flag_names(*command.get_parent()->get_subcommand("train"));
  for (const std::string& word : command.remaining()) {
    const std::string flag = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), flag) != known.end())
      throw BadUsage("compare has no " + flag +
                     ": it runs all systems and keeps nothing of them ('pipedream train' trains "
                     "with one)");
  }
}

void want_inputs(const CompareFlags& flags, const CLI::App& command) {
  for (const std::string& word : command.remaining())
    throw BadUsage("there is no option " + word + suggestion(word, flag_names(command)));
  const TrainFlags& given = *flags.training;
  if (given.profile.empty() || (given.cluster.empty() && !given.workers))
    throw BadUsage(
        "compare: wanted --profile FILE and --cluster FILE or --workers N to simulate, or --run "
        "and "
        "--model NAME to train");
}

void simulate_all(const CompareFlags& all) {
  check_page_file("--html", all.page);
  const TrainFlags& flags = *all.training;
  SimulationFlags conditions = *all.conditions;
  conditions.minibatches = flags.minibatches.value_or(0);
  conditions.seed = flags.seed;
  if (conditions.minibatches > kMostSimulated)
    throw BadUsage("--minibatches: at most " + std::to_string(kMostSimulated) +
                   " can be simulated, found " + std::to_string(conditions.minibatches));
  const profile::Profile profile = profile::read_profile(flags.profile, flags.batch);
  const cluster::Cluster cluster = cluster_of(flags, profile);
  const systems::Model model(profile);
  const systems::Wishes planning = wishes_of(flags);
  systems::SimulationWishes wishes = simulation_wishes(conditions, cluster);
  take_over(planning, wishes);
  wishes.keep_timeline = !all.page.empty();
  if (wishes.keep_timeline && conditions.minibatches > kMostOnPage)
    throw CannotMeet("a page with the timelines of all systems has at most " +
                     std::to_string(kMostOnPage) + " minibatches of each: choose --minibatches " +
                     std::to_string(kMostOnPage) + " or less");
  const systems::SimulatedChoice choice =
      systems::compare_systems(model, cluster, planning, wishes);
  if (!choice.chosen) systems::refuse_all(choice.candidates);
  std::vector<const plan::Plan*> plans;
  for (const systems::SimulatedCandidate& candidate : choice.candidates)
    if (const auto* planned = std::get_if<systems::Planned>(&candidate.result))
      plans.push_back(&planned->plan);
  for (const std::string& line : unused_stragglers(conditions, wishes, plans))
    std::cerr << line << "\n";
  if (flags.as_json)
    std::cout << with_flags(report::comparison_json(choice, profile).dump(2)) << "\n";
  else
    std::cout << with_flags(report::comparison_table(choice, profile, cluster));
  if (all.page.empty()) return;
  std::vector<page::Run> runs;
  for (const systems::SimulatedCandidate& candidate : choice.candidates)
    if (const auto* planned = std::get_if<systems::Planned>(&candidate.result))
      runs.push_back(simulated_run(candidate.system->name, planned->plan, profile, cluster,
                                   *candidate.simulated));
  write_page(all.page, profile.model + " on " + cluster.name + ": all systems", runs);
}

void execute(const CompareFlags& flags, CLI::App& command) {
  refuse_flags_of_train(command);
  refuse_other_half(flags, command);
  if (!flags.run) {
    want_inputs(flags, command);
    return simulate_all(flags);
  }
  if (!flags.training->cluster.empty() && !flags.training->link.empty())
    throw BadUsage("compare --run: --cluster has links of its own, so leave out --link");
  flags.training->system = "all";
  flags.training->no_evaluation = !flags.evaluation;
  flags.training->each_system = Seconds(60);
  train_network(*flags.training, command);
}

// Moves the flags that only really running uses under the heading `kRunning`. The flags in `shared`
// are for simulating too.
void sort_flags(CLI::App& command) {
  const std::set<std::string> shared{"--help",     "--minibatches", "--profile", "--cluster",
                                     "--workers",  "--batch",       "--seed",    "--optimiser",
                                     "--exchange", "--json"};
  for (CLI::Option* option : command.get_options())
    if (!shared.contains(option->get_name())) option->group(kRunning);
  command.get_option("--workers")
      ->description(
          "Workers of this machine, to simulate instead of --cluster, or to train [cores / "
          "--threads]");
  command.get_option("--batch")->description(
      "Samples of one minibatch [the profile's; with --run the model's own]");
  command.get_option("--minibatches")
      ->description(
          "How many to simulate [enough to see the steady state] or train [those of about a "
          "minute]");
  command.get_option("--seed")->description(
      "Of --jitter; with --run of weights, data and dropout [0]");
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare", "Plan and simulate all systems, or really run them, in one table");
  const auto flags = std::make_shared<CompareFlags>();
  add_any_training_flags(*command, flags->training);
  sort_flags(*command);
  command
      ->add_flag("--evaluation", flags->evaluation, "Look at held-out data after each epoch, too")
      ->group(kRunning);
  // Evaluation is off by default. The flag is accepted for users who know it from `train`.
  command->add_flag("--no-evaluation")->group("")->excludes("--evaluation");
  (void)add_planning_flags(*command, flags->training);
  const std::size_t before = command->get_options().size();
  add_condition_flags(*command, flags->conditions);
  add_page_flag(*command, flags->page);
  const auto all = command->get_options();
  for (std::size_t i = before; i < all.size(); ++i) all[i]->group(kSimulating);
  command->add_flag("--run", flags->run,
                    "Really train with each system, on this machine or under mpirun, and compare "
                    "what was simulated with what was measured");
  command->callback([flags, command] { execute(*flags, *command); });
}

}  // namespace pipedream::cli
