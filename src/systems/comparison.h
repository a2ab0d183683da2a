// All systems, planned and simulated on one cluster.
#pragma once

#include "systems/choice.h"
#include "systems/simulation.h"

namespace pipedream::systems {

struct SimulatedCandidate {
  const System* system;
  Result result;                       // of planning
  std::optional<Simulated> simulated;  // where there is a plan
};

struct SimulatedChoice {
  std::vector<SimulatedCandidate> candidates;  // in the order of all_systems()
  std::optional<std::size_t> chosen;           // by `auto`

  // dp-bsp's run; nullptr where it does not fit the memory.
  [[nodiscard]] const Simulated* data_parallel() const;
};

[[nodiscard]] SimulatedChoice compare_systems(const Model& model, const cluster::Cluster& cluster,
                                              const Wishes& wishes,
                                              const SimulationWishes& simulation);

}  // namespace pipedream::systems
