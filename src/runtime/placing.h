// Divides the cores of machines among the processes of a world (place/placement.h; docs/runtime.md:
// Cores).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "place/placement.h"
#include "transport/transport.h"

namespace pipedream::runtime {

struct PlacedProcess {
  place::Placement placement;  // no cores if the system should choose
  // Of the first of the processes that divide cores, for all of them. Kept while they compute.
  std::shared_ptr<const place::CoreClaims> claims;
};

// Returns the cores of the worker that this process is. All workers of the world call it. Processes
// on one machine that may use the same cores divide them. A process that shares only some of its
// cores with another one is left alone. Worker 0 logs a warning if processes are bound so tightly
// that messages have to wait for computation.
[[nodiscard]] PlacedProcess place_process(transport::Transport& control, int threads);

// What a process tells about its cores.
struct CoreOffer {
  std::string machine;    // the same for processes under one running Linux, whatever they see of it
  Units units;            // hardware threads that the process may use
  int machine_units = 0;  // hardware threads of the whole machine
};

// Returns for each worker all workers that divide its cores, itself among them, in ascending order;
// an empty list if the system should choose.
[[nodiscard]] std::vector<std::vector<WorkerId>> core_shares(
    const std::vector<CoreOffer>& by_worker);

// Returns the warning about processes that are bound too tightly; empty if there are none.
[[nodiscard]] std::string tight_binding_note(const std::vector<CoreOffer>& by_worker, int threads);

}  // namespace pipedream::runtime
