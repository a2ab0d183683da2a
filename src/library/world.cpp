#include "library/handles.h"
#include "model/keep_memory.h"

namespace pipedream {
namespace library {

transport::MpiWorld* mpi_of(World* world) {
  return world != nullptr && world->impl().mpi ? &*world->impl().mpi : nullptr;
}

}  // namespace library

inline namespace v1 {

void keep_memory(char** arguments) { model::keep_memory(arguments); }

World::World() : impl_(std::make_unique<Impl>()) {
  if (transport::launched_by_mpirun()) impl_->mpi.emplace();
}
World::~World() = default;

int World::rank() const { return impl_->mpi ? impl_->mpi->rank() : 0; }
int World::size() const { return impl_->mpi ? impl_->mpi->size() : 1; }

}  // namespace v1
}  // namespace pipedream
