// pipedream plan: which layers should run on which workers, and how fast that will be.
#include <chrono>
#include <iostream>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/planning.h"
#include "core/file.h"
#include "profile/profile_file.h"
#include "report/plan_table.h"

namespace pipedream::cli {
namespace {

using systems::Planned;

struct PlanFlags : PlanningFlags {
  std::string output;
  bool as_json = false;
  bool explain = false;
};

void execute(const PlanFlags& flags) {
  if (!flags.output.empty()) prepare_to_write(flags.output);
  const profile::Profile profile = profile::read_profile(flags.profile, flags.batch);
  const cluster::Cluster cluster = cluster_of(flags, profile);
  const auto began = std::chrono::steady_clock::now();
  const systems::Model model(profile);
  std::string table;
  const Planned planned = planned_for(flags, model, cluster, table);
  const Seconds took = std::chrono::steady_clock::now() - began;
  const std::string json = plan::to_json(
      systems::plan_file_of(planned, profile, cluster.workers(), took), profile.graph);
  std::cout << (flags.as_json
                    ? json
                    : table + report::plan_table(planned, profile, cluster, flags.explain));
  if (flags.output.empty()) return;
  write_file_atomically(flags.output, json);
  std::cerr << "written to " << flags.output << "\n";
}

}  // namespace

void add_plan(CLI::App& app) {
  CLI::App* command = app.add_subcommand("plan", "Find which layers should run on which workers");
  const auto flags = std::make_shared<PlanFlags>();
  add_required_input_flags(*command, flags);
  add_system_flag(*command, flags);
  (void)add_planning_flags(*command, flags);
  command->add_flag("--explain", flags->explain, "Show time and memory of each stage in parts");
  command->add_option("-o,--output", flags->output, "Write the plan to this file (JSON)")
      ->check(check_output_name);
  command->add_flag("--json", flags->as_json, "Print the plan as JSON instead of tables");
  command->callback([flags] { execute(*flags); });
}

}  // namespace pipedream::cli
