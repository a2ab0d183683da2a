// How stale the weights of a plan's gradients are, before anything runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/traits.h"
#include "plan/plan.h"

namespace pipedream::systems {

// By stage, in the steady state: the number of updates between the weights that a gradient is
// computed with and the weights that it is applied to. 0 for systems that flush. For asynchronous
// data parallelism it depends on timing; the value is what workers of equal speed have.
[[nodiscard]] std::vector<int> expected_staleness(const plan::Plan& plan,
                                                  const cost::Traits& traits);

// The largest of these, over the stages of a plan of that system.
[[nodiscard]] int largest_staleness(const plan::Plan& plan);

// What to know about the staleness of a plan before training with it. Nothing if it has none.
[[nodiscard]] std::optional<std::string> staleness_note(const plan::Plan& plan);

}  // namespace pipedream::systems
