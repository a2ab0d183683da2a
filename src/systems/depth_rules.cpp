#include "systems/depth_rules.h"

namespace pipedream::systems {

plan::Candidates as_predicted_by(const plan::Predictor& noam,
                                 const std::vector<plan::Answer>& answers) {
  std::vector<plan::Layout> layouts;
  for (const plan::Answer& answer : answers) {
    layouts.push_back(answer.layout);
    layouts.back().depths.clear();
  }
  return plan::as_candidates(noam, std::move(layouts));
}

}  // namespace pipedream::systems
