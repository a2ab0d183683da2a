// pipedream compare: all systems side by side on one model and cluster.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/planning.h"
#include "cli/simulation_flags.h"
#include "cluster/cluster_file.h"
#include "report/simulation_table.h"

namespace pipedream::cli {
namespace {

struct CompareFlags : PlanningFlags, SimulationFlags {
  bool as_json = false;
};

void execute(const CompareFlags& flags) {
  const profile::Profile profile = read_profile_for(flags.profile, flags.batch);
  const cluster::Cluster cluster = cluster::read_cluster(flags.cluster);
  const systems::Model model(profile);
  const systems::Wishes planning = wishes_of(flags);
  systems::SimulationWishes wishes = simulation_wishes(flags, cluster);
  take_over(planning, wishes);
  const systems::SimulatedChoice choice =
      systems::compare_systems(model, cluster, planning, wishes);
  if (!choice.chosen) systems::refuse_all(choice.candidates);
  std::vector<const plan::Plan*> plans;
  for (const systems::SimulatedCandidate& candidate : choice.candidates)
    if (const auto* planned = std::get_if<systems::Planned>(&candidate.result))
      plans.push_back(&planned->plan);
  for (const std::string& line : unused_stragglers(flags, wishes, plans)) std::cerr << line << "\n";
  if (flags.as_json)
    std::cout << report::comparison_json(choice, profile).dump(2) << "\n";
  else
    std::cout << report::comparison_table(choice, profile, cluster);
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "Plan and simulate all systems, in one table");
  const auto flags = std::make_shared<CompareFlags>();
  add_input_flags(*command, flags);
  (void)add_planning_flags(*command, flags);
  add_simulation_flags(*command, flags);
  command->add_flag("--json", flags->as_json, "Print one JSON object instead of a table");
  // Never seen here: run.cpp makes another command of it.
  const std::string about_run =
      "Really train with each of them on this machine or under mpirun, and compare what was "
      "simulated with what was measured; flags are then those of train";
  command->add_flag("--run", about_run);
  command->callback([flags] { execute(*flags); });
}

}  // namespace pipedream::cli
