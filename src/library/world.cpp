#include "library/world.h"

#include <optional>
#include <span>

#include "model/keep_memory.h"

namespace pipedream {
namespace library {

transport::MpiWorld* mpi_of(World* world) {
  return world != nullptr && world->impl().mpi ? &*world->impl().mpi : nullptr;
}

namespace {

constexpr int kText = 0;

// The reason of a failure; empty where there was none.
std::string reason_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (...) {
    return runtime::to_reason(std::current_exception());
  }
}

void tell_others(const transport::MpiWorld& mpi, transport::Transport& channel,
                 const std::string& said, bool failed) {
  const auto text = std::make_shared<const std::string>(said);
  for (int rank = 0; rank < mpi.size(); ++rank)
    if (rank != mpi.rank())
      channel.send({rank}, kText, {{failed ? 1 : 0}, std::as_bytes(std::span(*text)), text});
}

struct Told {
  std::string text;
  bool failed;
};
// The other process may take long over it; if it is lost, all are aborted.
Told heard_of(transport::Transport& channel, int rank) {
  try {
    const transport::Message message =
        channel.wait(channel.receive({rank}, kText), transport::Deadline::max());
    return {{reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()},
            message.header.at(0) != 0};
  } catch (const transport::Aborted& aborted) {
    runtime::throw_reason(aborted.what());
  }
}

}  // namespace

void agree(transport::MpiWorld* mpi, const std::function<void()>& check) {
  const std::string own = reason_of(check);
  if (mpi == nullptr) {
    if (!own.empty()) runtime::throw_reason(own);
    return;
  }
  const auto channel = mpi->connect();
  tell_others(*mpi, *channel, own, !own.empty());
  std::optional<std::string> first;  // of all: nobody leaves before it has heard everybody
  for (int rank = 0; rank < mpi->size(); ++rank) {
    const std::string reason = rank == mpi->rank() ? own : heard_of(*channel, rank).text;
    if (!first && !reason.empty()) first = reason;
  }
  if (first) runtime::throw_reason(*first);
}

std::string made_by_first(transport::MpiWorld* mpi, const std::function<std::string()>& make) {
  Told made{{}, false};
  const auto channel = mpi != nullptr ? mpi->connect() : nullptr;
  if (mpi == nullptr || mpi->rank() == 0) {
    const std::string reason = reason_of([&] { made.text = make(); });
    if (!reason.empty()) made = {reason, true};
    if (channel) tell_others(*mpi, *channel, made.text, made.failed);
  } else {
    made = heard_of(*channel, 0);
  }
  if (made.failed) runtime::throw_reason(made.text);
  return made.text;
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
