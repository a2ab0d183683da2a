// From a system's name, or `auto`, to a plan and the file that says what is predicted of it: what
// the command line and the library ask for alike.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan_file.h"
#include "systems/systems.h"

namespace pipedream::systems {

// The name that lets plan_with choose.
inline constexpr const char* kAutomatic = "auto";

struct Decision {
  Planned planned;
  std::optional<Choice> choice;  // what `auto` chose from, where it did
};

// The plan of the system of that name, or the choice of `auto`. Throws BadUsage for a name or wish
// that makes no sense, and CannotMeet, with all reasons, where there is no plan.
[[nodiscard]] Decision plan_with(const std::string& system, const Model& model,
                                 const cluster::Cluster& cluster, const Wishes& wishes);

// Throws CannotMeet with the reason of every candidate that has no plan. Candidates have a `system`
// and a `result`.
[[noreturn]] void throw_no_plan(const std::string& reasons);
template <class Candidates>
[[noreturn]] void refuse_all(const Candidates& candidates) {
  std::string reasons;
  for (const auto& candidate : candidates)
    if (const auto* refusal = std::get_if<plan::Refusal>(&candidate.result))
      reasons += "\n  " + candidate.system->name + ": " + refusal->why;
  throw_no_plan(reasons);
}

// A plan as its file has it, with what was predicted for a cluster of so many workers; making it
// took that long.
[[nodiscard]] plan::PlanFile plan_file_of(const Planned& planned, const profile::Profile& profile,
                                          int workers, Seconds took);

// A plan file for a network of that graph. Throws as plan::read_plan does, and BadFile for a system
// that does not exist.
[[nodiscard]] plan::PlanFile read_known_plan(const std::filesystem::path& path,
                                             const graph::Graph& graph);

// "sgd", "momentum", "adam", "adamw".
[[nodiscard]] const std::vector<std::string>& optimiser_names();
// Where in that list a name is. Throws BadUsage, with the nearest name, when there is none.
[[nodiscard]] std::size_t optimiser_place(std::string_view optimiser);
// How many copies of the weights the state of that optimiser is: Wishes::optimiser_copies. Throws
// likewise.
[[nodiscard]] int optimiser_copies(std::string_view optimiser);

}  // namespace pipedream::systems
