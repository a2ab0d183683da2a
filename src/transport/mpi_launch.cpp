#include <algorithm>
#include <array>
#include <cstdlib>

#include "transport/mpi.h"

namespace pipedream::transport {

bool launched_by_mpirun() {
  // Open MPI, anything with PMIx (srun --mpi=pmix, prte), MPICH and its relatives.
  constexpr std::array kSigns{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  return 0;
}

std::optional<int> launched_here() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char* count = std::getenv(name)) return std::atoi(count);
  return std::nullopt;
}

}  // namespace pipedream::transport
