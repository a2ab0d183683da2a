// Plans ranked by simulation, for systems whose predicted time is too rough to choose by.
#pragma once

#include <vector>

#include "systems/system.h"

namespace pipedream::systems {

// Workers × items of one update: the largest plan that is simulated, which takes a few
// milliseconds.
inline constexpr std::int64_t kMostToSimulate = 2'000;

// Of plans of that system, of which there is at least one and all fit, the one that is fastest in
// simulation. Plans larger than kMostToSimulate are not simulated; if all are, the first is taken.
// Of equals the earlier one is taken.
[[nodiscard]] plan::Answer fastest_simulated(const System& system, const plan::Predictor& predictor,
                                             std::vector<plan::Answer> answers);

}  // namespace pipedream::systems
