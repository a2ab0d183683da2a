// Candidates under both rules for depths. The formula chooses between them by what it can see, and
// a simulation may find a plan with the paper's depths faster.
#pragma once

#include <vector>

#include "plan/planner.h"

namespace pipedream::systems {

// The most cuts of a network for which a planner searches a second time.
inline constexpr std::size_t kMostCutsToSearchTwice = 16;

// Returns the same layouts as candidates under the predictor `noam`; a refusal if none fits.
// Requires at least one answer.
[[nodiscard]] plan::Candidates as_predicted_by(const plan::Predictor& noam,
                                               const std::vector<plan::Answer>& answers);

// Returns the candidates of `planner` for the predictor. If its setting is Depth::kBest, adds
// candidates with the paper's depths (Depth::kNoam): those of `planner` or, for a network with more
// than kMostCutsToSearchTwice cuts, the same layouts.
template <class Planner>
[[nodiscard]] plan::Candidates plan_for_depths(const plan::Predictor& predictor, Planner planner) {
  plan::Candidates candidates = planner(predictor);
  const auto* answers = std::get_if<std::vector<plan::Answer>>(&candidates);
  if (answers == nullptr || predictor.setting().depth != plan::Depth::kBest) return candidates;
  plan::Setting setting = predictor.setting();
  setting.depth = plan::Depth::kNoam;
  const plan::Predictor noam(predictor.cuts(), predictor.cluster(), setting);
  const bool is_small = predictor.cuts().count() <= kMostCutsToSearchTwice;
  plan::Candidates others = is_small ? planner(noam) : as_predicted_by(noam, *answers);
  return plan::joined({std::move(candidates), std::move(others)});
}

}  // namespace pipedream::systems
