// Stands in for mpi.cpp and mpi_engine.cpp in a build without MPI.
#include "core/error.h"
#include "transport/mpi.h"

namespace pipedream::transport {

class MpiEngine {};

std::string mpi_name() { return ""; }

MpiWorld::MpiWorld() {
  throw CannotMeet(
      "this build has no MPI: install libopenmpi-dev and openmpi-bin and build again, or run "
      "without mpirun (workers are then threads)");
}

MpiWorld::~MpiWorld() = default;
int MpiWorld::rank() const { return 0; }
int MpiWorld::size() const { return 0; }
const std::vector<int>& MpiWorld::hosts() const {
  static const std::vector<int> none;
  return none;
}
const std::string& MpiWorld::host_name(int) const {
  static const std::string none;
  return none;
}
int MpiWorld::here() const { return 0; }
void MpiWorld::set_patience(std::chrono::milliseconds) {}
void MpiWorld::note(std::span<const std::byte>) {}
void MpiWorld::note_end() {}
std::vector<LostProcess> MpiWorld::lost_here() const { return {}; }
std::unique_ptr<Transport> MpiWorld::connect() { return nullptr; }
void MpiWorld::abort(const std::string&) {}
bool MpiWorld::leave() { return true; }

}  // namespace pipedream::transport
