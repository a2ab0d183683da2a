#include "library/world.h"

#include <span>

namespace pipedream {
namespace library {

transport::MpiWorld* mpi_of(World* world) {
  return world != nullptr && world->impl().mpi ? &*world->impl().mpi : nullptr;
}

std::string made_by_first(transport::MpiWorld& mpi, const std::function<std::string()>& make) {
  constexpr int kText = 0;
  const auto channel = mpi.connect();
  if (mpi.rank() == 0) {
    const auto text = std::make_shared<const std::string>(make());
    for (int rank = 1; rank < mpi.size(); ++rank)
      channel->send({rank}, kText, {{}, std::as_bytes(std::span(*text)), text});
    return *text;
  }
  // The first process may take long over it; if it fails, all are aborted.
  const transport::Message message =
      channel->wait(channel->receive({0}, kText), transport::Deadline::max());
  return {reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()};
}

}  // namespace library

inline namespace v1 {

World::World() : impl_(std::make_unique<Impl>()) {
  if (transport::launched_by_mpirun()) impl_->mpi.emplace();
}
World::~World() = default;

int World::rank() const { return impl_->mpi ? impl_->mpi->rank() : 0; }
int World::size() const { return impl_->mpi ? impl_->mpi->size() : 1; }

}  // namespace v1
}  // namespace pipedream
