// The flags by which a user says what to plan for, shared by the subcommands that plan.
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
  std::optional<std::int64_t> batch;
  std::string memory, cost_model, optimiser, exchange, depth, balance, prefer;  // as written
  bool no_recompute = false;
  systems::Wishes wishes;
};

// --profile, --cluster, --batch, --optimiser, --exchange.
void add_input_flags(CLI::App& command, const std::shared_ptr<PlanningFlags>& flags,
                     bool required = true);
// `all`: whether "all" is a system too.
CLI::Option* add_system_flag(CLI::App& command, const std::shared_ptr<PlanningFlags>& flags,
                             bool all = false);
// Those that say how to plan.
std::vector<CLI::Option*> add_planning_flags(CLI::App& command,
                                             const std::shared_ptr<PlanningFlags>& flags);

// --depth as written: auto, noam or a number. Throws BadUsage.
void read_depth(const std::string& text, systems::Wishes& wishes);

// Throws BadUsage for what does not make sense.
[[nodiscard]] systems::Wishes wishes_of(const PlanningFlags& flags);

// The choice of `auto`, or the plan of the one system. `table` gets what to show before the plan.
// Prints a line for each wish that the plan does not meet. Throws CannotMeet if there is no plan.
[[nodiscard]] systems::Planned planned_for(const PlanningFlags& flags, const systems::Model& model,
                                           const cluster::Cluster& cluster, std::string& table);

}  // namespace pipedream::cli
