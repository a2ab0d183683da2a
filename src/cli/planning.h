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

// The choice of `auto`, or of the one system; `table` gets what to show before the plan. Throws
// CannotMeet where there is none.
[[nodiscard]] systems::Planned planned_for(const PlanningFlags& flags, const systems::Model& model,
                                           const cluster::Cluster& cluster, std::string& table);

// What of the flags the plan does not do, a line each: wishes that mean nothing to the system that
// `auto` has chosen, and a --depth that it cannot reach.
[[nodiscard]] std::vector<std::string> unmet_wishes(const PlanningFlags& flags,
                                                    const systems::Planned& planned);

// --plan FILE, for workers of that number. Throws BadFile for a system that does not exist, and
// CannotMeet where the plan needs more of them; `found` ends that message.
[[nodiscard]] plan::PlanFile read_plan_for(const std::string& file, const graph::Graph& graph,
                                           int workers, const std::string& found);

}  // namespace pipedream::cli
