#include "systems/comparison.h"

namespace pipedream::systems {

const Simulated* SimulatedChoice::data_parallel() const {
  for (const SimulatedCandidate& candidate : candidates)
    if (candidate.system == &data_parallel_system() && candidate.simulated)
      return &*candidate.simulated;
  return nullptr;
}

SimulatedChoice compare_systems(const Model& model, const cluster::Cluster& cluster,
                                const Wishes& wishes, const SimulationWishes& simulation) {
  Choice choice = plan_for_all(model, cluster, wishes);
  SimulatedChoice compared;
  compared.chosen = choice.best;
  for (Candidate& candidate : choice.candidates) {
    compared.candidates.push_back({candidate.system, std::move(candidate.result), {}});
    SimulatedCandidate& added = compared.candidates.back();
    if (const auto* planned = std::get_if<Planned>(&added.result))
      added.simulated = simulate_plan(planned->plan, model.profile, cluster, simulation);
  }
  return compared;
}

}  // namespace pipedream::systems
