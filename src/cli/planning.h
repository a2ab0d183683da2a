// The flags that say what to plan for and how, shared by the subcommands that plan.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "plan/plan_file.h"
#include "systems/choice.h"

namespace pipedream::cli {

struct PlanningFlags {
  std::string profile;
  std::string cluster;
  std::string system = "auto";
  std::optional<int> workers;
  std::optional<std::int64_t> batch;
  std::string memory, cost_model, optimiser, exchange, depth, balance,
      prefer;  // as the user wrote them
  bool no_recompute = false;
  systems::Wishes wishes;
};

// Adds --profile, --cluster, --batch, --optimiser and --exchange.
void add_input_flags(CLI::App& command, const std::shared_ptr<PlanningFlags>& flags);
// The same for commands that need a profile and a cluster: --profile is required, and --workers
// may stand for --cluster.
void add_required_input_flags(CLI::App& command, const std::shared_ptr<PlanningFlags>& flags);
// Adds --system. If `all` is true, the help also offers "all" as a value.
CLI::Option* add_system_flag(CLI::App& command, const std::shared_ptr<PlanningFlags>& flags,
                             bool all = false);
// Adds the flags that say how to plan, from --cost-model to --no-recompute, and returns them.
std::vector<CLI::Option*> add_planning_flags(CLI::App& command,
                                             const std::shared_ptr<PlanningFlags>& flags);

// Reads the text of --depth (auto, noam or a number) into `wishes`. Throws BadUsage for any other
// text.
void read_depth(const std::string& text, systems::Wishes& wishes);

// The wishes that the flags express. Throws BadUsage for a flag whose text cannot be read.
[[nodiscard]] systems::Wishes wishes_of(const PlanningFlags& flags);

// The cluster that the flags name: the file of --cluster, or --workers workers of this machine.
// Throws BadUsage unless one of the two is given.
[[nodiscard]] cluster::Cluster cluster_of(const PlanningFlags& flags,
                                          const profile::Profile& profile);

// Returns the plan of the system that `flags` names, or the plan that `auto` chooses. For `auto`,
// `table` is set to the table of candidates, to be shown before the plan. Prints a line to stderr
// for each wish that the plan does not meet. Throws CannotMeet if there is no plan.
[[nodiscard]] systems::Planned planned_for(const PlanningFlags& flags, const systems::Model& model,
                                           const cluster::Cluster& cluster, std::string& table);

}  // namespace pipedream::cli
