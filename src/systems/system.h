// A training system as one value: its traits, its planner, its predicted time and its schedule.
// Each system has a file of its own in this folder; list.cpp has the list of all. To add a system,
// write its file and its schedule generator, and add its line to the list (ARCHITECTURE.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "cost/pipeline_costs.h"
#include "plan/planner.h"
#include "schedule/schedule.h"
#include "systems/options.h"

namespace pipedream::systems {

// Plans for the model, cluster and setting of the predictor. Throws BadUsage or BadValue for a wish
// that cannot be.
using Planner = plan::Outcome (*)(const plan::Predictor& predictor, const Wishes& wishes);

// The schedule of a plan that the system accepts.
using Scheduler = schedule::Schedule (*)(const plan::Plan& plan, const schedule::Extent& extent,
                                         const cost::Traits& traits);

// Why the system cannot run a plan; nothing if it can.
using PlanCheck = std::optional<std::string> (*)(const plan::Plan& plan);

struct System {
  std::string name;   // on the command line and in plan files
  std::string about;  // one line for help texts and tables
  cost::Traits traits;
  // When the planner lets stages recompute, unless the user forbids it.
  plan::Recompute recompute = plan::Recompute::kNever;
  std::vector<Option> options{};  // that mean something to this system
  // `auto` takes the system with the lowest number among those that are equally fast: it changes
  // training least. Unset: `auto` never takes the system.
  std::optional<int> preference{};
  // The planner looks at every cut of the network. Otherwise layers are cut in declared order.
  bool looks_at_all_cuts = false;
  Planner plan = nullptr;
  cost::TimeRule time = nullptr;
  Scheduler schedule = nullptr;
  // What a plan must be besides what the traits say (why_refused). May be null.
  PlanCheck accepts = nullptr;
};

// Every system, in the order of tables and help texts.
[[nodiscard]] const std::vector<System>& all_systems();
// Throws BadUsage, with the nearest name, if there is no such system.
[[nodiscard]] const System& find_system(std::string_view name);

// The system that others are compared with: bulk-synchronous data parallelism.
[[nodiscard]] const System& data_parallel_system();

// "gpipe, dapple": the names of the systems for which `has` returns true.
template <class Has>
[[nodiscard]] std::string systems_with(Has has) {
  std::vector<std::string> names;
  for (const System& system : all_systems())
    if (has(system)) names.push_back(system.name);
  return joined(names);
}

[[nodiscard]] bool knows(const System& system, Option option);
// "pipedream, dapple": the systems that know the option.
[[nodiscard]] std::string who_knows(Option option);

// Why the system cannot run the plan, by its traits and its own check. Nothing if it can.
[[nodiscard]] std::optional<std::string> why_refused(const System& system, const plan::Plan& plan);

// What planners assume for plans of this system.
[[nodiscard]] plan::Setting setting_of(const System& system, const Wishes& wishes);

}  // namespace pipedream::systems
