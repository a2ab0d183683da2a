#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>

#include "transport/mpi.h"

namespace pipedream::transport {
namespace {

// The number in the first of these environment variables that is set.
std::optional<int> number_in(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* number = std::getenv(name)) return std::atoi(number);
  return std::nullopt;
}

}  // namespace

bool launched_by_mpirun() {
  // Set by Open MPI, by launchers with PMIx (srun --mpi=pmix, prte), by MPICH and its relatives.
  constexpr std::array kSigns{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

int launched_rank() {
  return number_in({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}).value_or(0);
}

std::optional<int> launched_size() { return number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}); }

std::optional<int> launched_here() {
  return number_in({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"});
}

}  // namespace pipedream::transport
