#include "transport/in_process.h"

#include <mutex>
#include <string>

#include "core/check.h"
#include "transport/inbox.h"
#include "transport/peer_memory.h"

namespace pipedream::transport {
namespace {

// The state that all endpoints of a channel share.
struct SharedInboxes {
  explicit SharedInboxes(int count) : inboxes(static_cast<std::size_t>(count)) {}

  std::vector<Inbox> inboxes;  // by worker
  std::mutex aborting;         // serialises aborts: all inboxes then keep the same first reason
};

// All memory of a process can be read by all of its workers. An offer has the address of its
// values.
class OwnMemory final : public PeerMemory {
 public:
  bool can_read(WorkerId) const override { return true; }
  Message offer(std::span<const float> values, std::shared_ptr<const void> owner) const override {
    return {{reinterpret_cast<std::intptr_t>(values.data())}, {}, std::move(owner)};
  }
  std::span<const float> read(WorkerId, const Message& offer, std::size_t first,
                              std::span<float> into) const override {
    const auto* values = reinterpret_cast<const float*>(offer.header.at(0));
    return {values + first, into.size()};
  }
};

class InProcess final : public Transport {
 public:
  InProcess(std::shared_ptr<SharedInboxes> shared, WorkerId me)
      : shared_(std::move(shared)), me_(me) {}

  WorkerId me() const override { return me_; }
  int workers() const override { return static_cast<int>(shared_->inboxes.size()); }
  bool takes_device_memory() const override { return true; }
  const PeerMemory* peer_memory() const override { return &memory_; }

  void send(WorkerId to, int tag, Message message) override {
    inbox(to).put(me_, tag, sent_.next(to, tag), std::move(message));
  }

  Ticket receive(WorkerId from, int tag) override { return inbox(me_).receive(from, tag); }

  Message wait(Ticket ticket, Deadline deadline) override {
    return inbox(me_).wait(ticket, deadline);
  }
  Arrival wait_any(std::span<const Ticket> tickets, Deadline deadline) override {
    return inbox(me_).wait_any(tickets, deadline);
  }

  void abort(const std::string& reason) noexcept override {
    const std::lock_guard lock(shared_->aborting);
    for (Inbox& inbox : shared_->inboxes) inbox.abort(reason);
  }

 private:
  Inbox& inbox(WorkerId worker) {
    PD_CHECK(worker.value >= 0 && worker.value < workers());
    return shared_->inboxes[worker.index()];
  }

  std::shared_ptr<SharedInboxes> shared_;
  WorkerId me_;
  OwnMemory memory_;
  MessageNumbers sent_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> connect_in_process(int count) {
  auto shared = std::make_shared<SharedInboxes>(count);
  std::vector<std::unique_ptr<Transport>> endpoints;
  for (int worker = 0; worker < count; ++worker)
    endpoints.push_back(std::make_unique<InProcess>(shared, WorkerId{worker}));
  return endpoints;
}

}  // namespace pipedream::transport
