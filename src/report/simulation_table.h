// Simulated runs for people and for programs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "systems/comparison.h"
#include "systems/simulation.h"

namespace pipedream::report {

// Speed, where every worker's time goes, memory, and the busiest links.
[[nodiscard]] std::string simulation_table(const systems::Simulated& simulated,
                                           const plan::Plan& plan, const profile::Profile& profile,
                                           const cluster::Cluster& cluster);

// The object of `simulate --json` (docs/formats.md).
[[nodiscard]] nlohmann::ordered_json simulation_json(const systems::Simulated& simulated,
                                                     const plan::Plan& plan,
                                                     const profile::Profile& profile);

// All systems side by side; the choice of `auto` is marked.
[[nodiscard]] std::string comparison_table(const systems::SimulatedChoice& choice,
                                           const profile::Profile& profile,
                                           const cluster::Cluster& cluster);

// The object of `compare --json`.
[[nodiscard]] nlohmann::ordered_json comparison_json(const systems::SimulatedChoice& choice,
                                                     const profile::Profile& profile);

// "7,778 samples/s; busy 68.1 %, idle: …": under a picture.
[[nodiscard]] std::string simulation_line(const systems::Simulated& simulated,
                                          const profile::Profile& profile);

}  // namespace pipedream::report
