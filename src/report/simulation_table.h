// Simulated runs as text for people and as JSON for programs (docs/simulator.md).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "systems/comparison.h"
#include "systems/simulation.h"

namespace pipedream::report {

// Returns the name of a link for people, as in "worker 3 in its server".
[[nodiscard]] std::string link_name(const simulate::LinkTraffic& link,
                                    const cluster::Cluster& cluster);

// Returns the speed, where every worker's time goes, memory, and the busiest links.
[[nodiscard]] std::string simulation_table(const systems::Simulated& simulated,
                                           const plan::Plan& plan, const profile::Profile& profile,
                                           const cluster::Cluster& cluster);

// Returns the object that `simulate --json` prints (docs/formats.md).
[[nodiscard]] nlohmann::ordered_json simulation_json(const systems::Simulated& simulated,
                                                     const plan::Plan& plan,
                                                     const profile::Profile& profile);

// Returns all systems side by side, with the choice of `auto` marked.
[[nodiscard]] std::string comparison_table(const systems::SimulatedChoice& choice,
                                           const profile::Profile& profile,
                                           const cluster::Cluster& cluster);

// Returns the object that `compare --json` prints (docs/formats.md).
[[nodiscard]] nlohmann::ordered_json comparison_json(const systems::SimulatedChoice& choice,
                                                     const profile::Profile& profile);

// Returns the line under a picture's title, as in "7,778 samples/s; busy 68.1 %, idle: …".
[[nodiscard]] std::string simulation_line(const systems::Simulated& simulated,
                                          const profile::Profile& profile);

}  // namespace pipedream::report
