#include "systems/staleness.h"

#include <algorithm>

#include "schedule/depths.h"
#include "systems/system.h"

namespace pipedream::systems {

std::vector<int> expected_staleness(const plan::Plan& plan, const cost::Traits& traits) {
  const std::vector<int> depths = schedule::runnable_depths(plan, traits.replicas);
  std::vector<int> staleness(plan.stages.size(), 0);
  // Returns ⌈rounds/K⌉, the updates in `rounds` rounds.
  const auto updates = [&](int rounds) { return (rounds + plan.accumulate - 1) / plan.accumulate; };
  for (std::size_t s = 0; s < staleness.size(); ++s) {
    const int replicas = static_cast<int>(plan.stages[s].workers.size());
    if (traits.asynchronous)
      staleness[s] = replicas - 1;
    else if (traits.flushes)
      staleness[s] = 0;
    else if (traits.versions == cost::WeightVersions::kTwo)
      staleness[s] = 1;
    else if (traits.versions == cost::WeightVersions::kVerticalSync)
      staleness[s] = updates(depths.front() - 1);
    else if (traits.versions == cost::WeightVersions::kStashed)
      // With replicas, the averaging of a round may overlap the compute of one more round.
      staleness[s] = updates(replicas > 1 ? depths[s] : depths[s] - 1);
  }
  return staleness;
}

int largest_staleness(const plan::Plan& plan) {
  const std::vector<int> all = expected_staleness(plan, find_system(plan.system).traits);
  return *std::max_element(all.begin(), all.end());
}

std::optional<std::string> staleness_note(const plan::Plan& plan) {
  const int most = largest_staleness(plan);
  if (most == 0) return std::nullopt;
  return plan.system + " " + plan::config_text(plan) +
         " computes gradients with weights that are up to " + std::to_string(most) +
         (most == 1 ? " update" : " updates") +
         " old: if the loss jumps or does not fall, take a smaller `learning_rate` or `momentum`, "
         "or choose `prefer` exact (docs/systems.md#stale-weights)";
}

}  // namespace pipedream::systems
