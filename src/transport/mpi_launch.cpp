#include "transport/launcher.h"
#include "transport/mpi.h"

namespace pipedream::transport {

bool launched_by_mpirun() { return this_launcher().start == Start::kMpi; }

int launched_rank() { return this_launcher().rank; }

std::optional<int> launched_size() { return this_launcher().size; }

std::optional<int> launched_here() { return this_launcher().here; }

}  // namespace pipedream::transport
