// Ranks a planner's candidates by simulation. A predicted time leaves out what a formula cannot
// see, such as transfers and averagings that wait for each other (docs/planner.md#the-planners).
#pragma once

#include <vector>

#include "systems/system.h"

namespace pipedream::systems {

// The largest plan that is simulated, in workers × microbatches. Its simulation takes a few
// milliseconds.
inline constexpr std::int64_t kMostToSimulate = 2'000;

// Plans and systems whose time is within this factor of the fastest count as equally fast, because
// profiles are no more exact than that.
inline constexpr double kAsFast = 1.01;

struct Ranked {
  plan::Answer answer;
  std::optional<Seconds> simulated;  // per minibatch; nullopt if all candidates are too large
};

// Returns the candidate that is fastest in simulation. Of those within kAsFast of it, returns the
// one that sends the fewest bytes; of equals, the one that is faster in a short simulation. Plans
// larger than kMostToSimulate are left out; if all plans are larger, returns the first candidate.
// Requires at least one candidate, and plans of `system` that fit the memory.
[[nodiscard]] Ranked fastest_simulated(const System& system, const plan::Predictor& predictor,
                                       std::vector<plan::Answer> candidates);

}  // namespace pipedream::systems
