// Ranks plans by simulation, for systems whose predicted time is too rough to choose by
// (docs/planner.md#the-planners).
#pragma once

#include <vector>

#include "systems/system.h"

namespace pipedream::systems {

// The largest plan that is simulated, in workers × microbatches. Its simulation takes a few
// milliseconds.
inline constexpr std::int64_t kMostToSimulate = 2'000;

// Returns the answer whose plan is fastest in simulation, the first of equally fast ones. Plans
// larger than kMostToSimulate are left out; if all plans are larger, returns the first answer.
// Requires at least one answer, and plans of `system` that fit the memory.
[[nodiscard]] plan::Answer fastest_simulated(const System& system, const plan::Predictor& predictor,
                                             std::vector<plan::Answer> answers);

}  // namespace pipedream::systems
