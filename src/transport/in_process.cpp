#include "transport/in_process.h"

#include <mutex>
#include <string>

#include "core/check.h"
#include "transport/inbox.h"

namespace pipedream::transport {
namespace {

// What all endpoints share.
struct Exchange {
  explicit Exchange(int count) : inboxes(static_cast<std::size_t>(count)) {}

  std::vector<Inbox> inboxes;  // by worker
  std::mutex aborting;         // one abort at a time, so that all hear the same first reason
};

class InProcess final : public Transport {
 public:
  InProcess(std::shared_ptr<Exchange> exchange, WorkerId me)
      : exchange_(std::move(exchange)), me_(me) {}

  WorkerId me() const override { return me_; }
  int workers() const override { return static_cast<int>(exchange_->inboxes.size()); }
  bool takes_device_memory() const override { return true; }

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
    const std::lock_guard lock(exchange_->aborting);
    for (Inbox& inbox : exchange_->inboxes) inbox.abort(reason);
  }

 private:
  Inbox& inbox(WorkerId worker) {
    PD_CHECK(worker.value >= 0 && worker.value < workers());
    return exchange_->inboxes[worker.index()];
  }

  std::shared_ptr<Exchange> exchange_;
  WorkerId me_;
  MessageNumbers sent_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> connect_in_process(int count) {
  auto exchange = std::make_shared<Exchange>(count);
  std::vector<std::unique_ptr<Transport>> endpoints;
  for (int worker = 0; worker < count; ++worker)
    endpoints.push_back(std::make_unique<InProcess>(exchange, WorkerId{worker}));
  return endpoints;
}

}  // namespace pipedream::transport
