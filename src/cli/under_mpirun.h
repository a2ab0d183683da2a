// Runs a command as one of mpirun's processes, so that all of them end together.
#pragma once

#include <exception>
#include <iostream>

#include "cli/spelling.h"
#include "train/together.h"
#include "transport/mpi.h"

namespace pipedream::cli {

// Returns what `action` returns. If it throws in any process, all processes throw that failure
// after they have left `world`, which cannot be used again then. The first process prints a failure
// for all. If it is too busy to hear of the failure before mpirun ends it, the process that failed
// prints it here.
template <class Action>
auto run_under_mpirun(transport::MpiWorld& world, Action action) {
  try {
    return train::run_together(&world, action);
  } catch (const std::exception& failure) {
    const int rank = world.rank();
    if (!world.leave() && rank > 0)
      std::cerr << "pipedream: worker " << rank << ": " << with_flags(failure.what()) << std::endl;
    throw;
  }
}

}  // namespace pipedream::cli
