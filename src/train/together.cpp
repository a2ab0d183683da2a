#include "train/together.h"

#include <optional>

#include "transport/text_message.h"

namespace pipedream::train {
namespace {

constexpr int kText = 0;

// What `action` threw, as text; empty if it threw nothing.
std::string reason_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (...) {
    return runtime::to_reason(std::current_exception());
  }
}

void tell_others(const transport::MpiWorld& world, transport::Transport& channel,
                 const std::string& said, bool failed) {
  for (int rank = 0; rank < world.size(); ++rank)
    if (rank != world.rank())
      channel.send({rank}, kText, transport::text_message(said, {failed ? 1 : 0}));
}

struct Told {
  std::string text;
  bool failed;
};
// Waits without a deadline: the other process may profile for long. If it is lost, MPI aborts all.
Told heard_of(transport::Transport& channel, int rank) {
  try {
    const transport::Message message =
        channel.wait(channel.receive({rank}, kText), transport::Deadline::max());
    return {transport::text_of(message), message.header.at(0) != 0};
  } catch (const transport::Aborted& aborted) {
    runtime::throw_reason(aborted.what());
  }
}

}  // namespace

void agree(transport::MpiWorld* world, const std::function<void()>& check) {
  const std::string own = reason_of(check);
  if (world == nullptr) {
    if (!own.empty()) runtime::throw_reason(own);
    return;
  }
  const auto channel = world->connect();
  tell_others(*world, *channel, own, !own.empty());
  // Nobody throws before it has heard from everybody: the channel must stay until all have.
  std::optional<std::string> first;
  for (int rank = 0; rank < world->size(); ++rank) {
    const std::string reason = rank == world->rank() ? own : heard_of(*channel, rank).text;
    if (!first && !reason.empty()) first = reason;
  }
  if (first) runtime::throw_reason(*first);
}

std::string made_by_first(transport::MpiWorld* world, const std::function<std::string()>& make) {
  Told made{{}, false};
  const auto channel = world != nullptr ? world->connect() : nullptr;
  if (world == nullptr || world->rank() == 0) {
    const std::string reason = reason_of([&] { made.text = make(); });
    if (!reason.empty()) made = {reason, true};
    if (channel) tell_others(*world, *channel, made.text, made.failed);
  } else {
    made = heard_of(*channel, 0);
  }
  if (made.failed) runtime::throw_reason(made.text);
  return made.text;
}

std::vector<std::string> gathered_by_first(transport::MpiWorld& world, const std::string& own) {
  const auto channel = world.connect();
  if (world.rank() > 0) {
    channel->send({0}, kText, transport::text_message(own, {0}));
    return {};
  }
  std::vector<std::string> all{own};
  for (int rank = 1; rank < world.size(); ++rank) all.push_back(heard_of(*channel, rank).text);
  return all;
}

}  // namespace pipedream::train
