// Which cores the threads of a worker run on (docs/runtime.md: Cores).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "place/core_claims.h"
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

// Cores that were chosen for workers that share them.
struct ChosenCores {
  std::vector<Placement> by_worker;  // empty if the system should choose
  Units left_out;                    // hardware threads that other programs use
  // Keeps other trainings away from the cores, for as long as the workers compute.
  std::shared_ptr<const CoreClaims> claims;
};

// Chooses cores for `workers` workers of this machine, if there are enough that no other program
// keeps busy and no other process has claimed. Watches the machine for a tenth of a second.
[[nodiscard]] ChosenCores choose_cores(int workers, int threads);

}  // namespace pipedream::place
