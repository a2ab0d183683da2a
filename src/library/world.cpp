#include <pipedream/errors.h>

#include "library/handles.h"
#include "model/keep_memory.h"
#include "train/same_start.h"

namespace pipedream {
namespace library {

transport::MpiWorld* mpi_of(World* world) {
  return world != nullptr && world->impl().mpi ? &*world->impl().mpi : nullptr;
}

}  // namespace library

namespace {

// Each process of such a launcher would train alone.
[[noreturn]] void refuse_start(const transport::Launcher& launcher) {
  throw BadUsage("World: " + launcher.name +
                 " started this process, and MPI cannot join the processes that it starts: start "
                 "the program with mpirun -n " +
                 (launcher.size ? std::to_string(*launcher.size) : "PROCESSES") +
                 (launcher.start == transport::Start::kSrun ? ", or with srun --mpi=pmix" : ""));
}

}  // namespace

inline namespace v1 {

void keep_memory(char** arguments) { model::keep_memory(arguments); }

World::World() : impl_(std::make_unique<Impl>()) {
  const transport::Launcher& launcher = transport::this_launcher();
  if (launcher.start == transport::Start::kPlain) return;
  if (launcher.start != transport::Start::kMpi) refuse_start(launcher);
  impl_->mpi.emplace();
  train::want_same_start(*impl_->mpi, launcher, train::this_program());
}
World::~World() = default;

int World::rank() const { return impl_->mpi ? impl_->mpi->rank() : 0; }
int World::size() const { return impl_->mpi ? impl_->mpi->size() : 1; }

}  // namespace v1
}  // namespace pipedream
