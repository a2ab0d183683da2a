// Which cores the threads of a worker run on (docs/runtime.md: Cores).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "place/topology.h"

namespace pipedream::place {

struct Placement {
  Units compute;  // for the threads that compute
  Units others;   // for the threads that move messages, sum gradients and write files
};

// Returns where worker number `worker` of `workers` runs, if they share `topology` and each
// computes with `threads` threads:
//  1. No two workers compute on the same hardware thread. A worker has whole cores where there are
//     enough of them.
//  2. The cores of one worker are neighbours, and the workers are spread evenly over the list.
//  3. The other threads may run on every core of the nodes on which the worker computes. So they
//     find a core that is idle at the moment, and none waits for one particular core.
// Returns nullopt if there are fewer hardware threads than threads that compute: workers then take
// turns, and the system knows best when.
[[nodiscard]] std::optional<Placement> placement(const Topology& topology, int worker, int workers,
                                                 int threads);

// Binds the calling thread to the cores of `placement` as long as the result lives. Does nothing,
// and returns null, if the placement is empty.
[[nodiscard]] std::unique_ptr<const Bound> bound_to(const Placement& placement);

// Returns the placements of `workers` workers on threads of this process, on the cores that no
// other program keeps busy; an empty list if there are too few of them. Watches the machine for a
// tenth of a second.
[[nodiscard]] std::vector<Placement> place_threads(int workers, int threads);

}  // namespace pipedream::place
