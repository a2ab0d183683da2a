// Profiles that include the cost of the optimiser's updates.
#pragma once

#include "profiler/profiler.h"
#include "train/optimiser_options.h"

namespace pipedream::train {

// Returns the profile of `network` as it would be trained by `optimiser` (profiler/profiler.h).
// Sets options.make_update. On a CPU, options.workers workers run at once while times are taken,
// but no more than have their own cores: workers without own cores take turns, and then slow each
// other down between layers, not in them. If several workers run, the layers' averaging times are
// measured too (averaging_time.h). The learning rate in `optimiser` is ignored: profiling leaves
// the weights practically unchanged. Throws what profile_network() throws, and BadUsage as
// make_optimiser() does.
[[nodiscard]] profile::Profile profile_for_training(const model::Network& network,
                                                    profiler::ProfileOptions options,
                                                    OptimiserOptions optimiser);

}  // namespace pipedream::train
