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

// Plans for the model, cluster and setting of the predictor. The best candidate by simulation
// becomes the plan (systems/ranking.h). Throws BadValue for a wish that is not valid, such as a
// split that does not ascend.
using Planner = plan::Candidates (*)(const plan::Predictor& predictor, const Wishes& wishes);

// Returns the schedule of a plan. Requires a plan that the system can run (why_refused).
using Scheduler = schedule::Schedule (*)(const plan::Plan& plan, const schedule::Extent& extent,
                                         const cost::Traits& traits);

// Returns why the system cannot run a plan; nullopt if it can.
using PlanCheck = std::optional<std::string> (*)(const plan::Plan& plan);

struct System {
  std::string name;   // on the command line and in plan files
  std::string about;  // one line for help texts and tables
  cost::Traits traits;
  // Which stages recompute, unless the user forbids recomputation.
  plan::Recompute recompute = plan::Recompute::kNever;
  std::vector<Option> options{};  // options that mean something to this system
  // Of equally fast systems, `auto` takes the one with the lowest number, which changes training
  // least. nullopt: `auto` never takes the system.
  std::optional<int> preference{};
  // True if the planner considers every cut of the network, false if it cuts the layers in declared
  // order.
  bool looks_at_all_cuts = false;
  Planner plan = nullptr;
  cost::TimeRule time = nullptr;
  Scheduler schedule = nullptr;
  // Checks what the traits do not say about plans (why_refused). May be nullptr.
  PlanCheck accepts = nullptr;
};

// Returns every system, in the order of tables and help texts.
[[nodiscard]] const std::vector<System>& all_systems();
// Returns the system named `name`. Throws BadUsage, with the nearest name, if there is none.
[[nodiscard]] const System& find_system(std::string_view name);

// Returns dp-bsp, bulk-synchronous data parallelism, with which other systems are compared.
[[nodiscard]] const System& data_parallel_system();

// Returns the names of the systems for which `has` returns true, such as "gpipe, dapple".
template <class Has>
[[nodiscard]] std::string systems_with(Has has) {
  std::vector<std::string> names;
  for (const System& system : all_systems())
    if (has(system)) names.push_back(system.name);
  return joined(names);
}

// Returns whether the option means something to the system.
[[nodiscard]] bool knows(const System& system, Option option);
// Returns the names of the systems that know the option, such as "pipedream, dapple".
[[nodiscard]] std::string who_knows(Option option);

// Returns why the system cannot run the plan, by its traits and by System::accepts; nullopt if it
// can.
[[nodiscard]] std::optional<std::string> why_refused(const System& system, const plan::Plan& plan);

// Returns the setting of a Predictor for plans of this system under `wishes`.
[[nodiscard]] plan::Setting setting_of(const System& system, const Wishes& wishes);

}  // namespace pipedream::systems
