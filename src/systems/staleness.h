// How stale the gradients of a plan will be (docs/systems.md#stale-weights).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/traits.h"
#include "plan/plan.h"

namespace pipedream::systems {

// Returns for each stage, in the steady state, the number of updates between the weights that a
// gradient is computed with and the weights that it is applied to; the largest number, if updates
// of several minibatches make it differ. It is 0 for systems that flush.
// For asynchronous data parallelism it depends on timing; the result holds for workers of equal
// speed.
[[nodiscard]] std::vector<int> expected_staleness(const plan::Plan& plan,
                                                  const cost::Traits& traits);

// Returns the largest expected_staleness() of all stages, with the traits of the plan's system.
[[nodiscard]] int largest_staleness(const plan::Plan& plan);

// Returns a line that warns of the plan's staleness before training; nullopt if it has none.
[[nodiscard]] std::optional<std::string> staleness_note(const plan::Plan& plan);

}  // namespace pipedream::systems
