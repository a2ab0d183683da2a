// Profiles that include what an optimiser's updates cost.
#pragma once

#include "profiler/profiler.h"
#include "train/optimiser_options.h"

namespace pipedream::train {

// The profile of the network as that optimiser would train it (profiler/profiler.h); sets
// options.make_update. Taken in the company of as many workers as have cores of their own, at most:
// more than that take turns, and then others slow a worker down between layers, not in them. Where
// there are several, the layers' times of averaging (averaging_time.h) are set too. The
// learning rate does not count: the weights stay where they are, near enough. Also throws BadUsage,
// as make_optimiser does.
[[nodiscard]] profile::Profile profile_for_training(const model::Network& network,
                                                    profiler::ProfileOptions options,
                                                    OptimiserOptions optimiser);

}  // namespace pipedream::train
