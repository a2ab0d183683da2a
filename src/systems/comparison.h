// Plans and simulates all systems on one cluster.
#pragma once

#include "systems/choice.h"
#include "systems/simulation.h"

namespace pipedream::systems {

struct SimulatedCandidate {
  const System* system;
  Result result;                       // the plan, or why there is none
  std::optional<Simulated> simulated;  // nullopt if there is no plan
};

struct SimulatedChoice {
  std::vector<SimulatedCandidate> candidates;  // in the order of all_systems()
  std::optional<std::size_t> chosen;           // Choice::best

  // Returns the simulation of dp-bsp, or nullptr if dp-bsp has no plan.
  [[nodiscard]] const Simulated* data_parallel() const;
};

// Plans for every system, like plan_for_all(), and simulates every plan.
[[nodiscard]] SimulatedChoice compare_systems(const Model& model, const cluster::Cluster& cluster,
                                              const Wishes& wishes,
                                              const SimulationWishes& simulation);

}  // namespace pipedream::systems
