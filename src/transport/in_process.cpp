#include "transport/in_process.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

#include "core/check.h"
#include "core/error.h"

namespace pipedream::transport {
namespace {

using Box = std::tuple<WorkerId, WorkerId, int>;  // from, to, tag

// What all endpoints share: one box of messages per pair and tag, under one lock. Messages are few
// and large (activations), so a finer lock would gain nothing.
struct Exchange {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Box, std::deque<Message>> boxes;
  bool aborted = false;
};

class InProcess final : public Transport {
 public:
  InProcess(std::shared_ptr<Exchange> exchange, WorkerId me)
      : exchange_(std::move(exchange)), me_(me) {}

  void send(WorkerId to, int tag, Message message) override {
    {
      const std::lock_guard lock(exchange_->mutex);
      exchange_->boxes[{me_, to, tag}].push_back(std::move(message));
    }
    exchange_->changed.notify_all();
  }

  Ticket receive(WorkerId from, int tag) override {
    asked_[++last_ticket_] = {from, me_, tag};
    return {last_ticket_};
  }

  // Tickets of one box are served in the order of waiting, which for one worker's program is the
  // order of asking.
  Message wait(Ticket ticket, Deadline deadline) override {
    const auto asked = asked_.find(ticket.number);
    PD_CHECK(asked != asked_.end());
    const Box box = asked->second;
    asked_.erase(asked);
    std::unique_lock lock(exchange_->mutex);
    auto& messages = exchange_->boxes[box];
    const bool woken = exchange_->changed.wait_until(
        lock, deadline, [&] { return exchange_->aborted || !messages.empty(); });
    const std::string peer = std::to_string(std::get<0>(box).value);
    if (exchange_->aborted)
      throw WorkerLost("the run was stopped while waiting for worker " + peer);
    if (!woken) throw WorkerLost("worker " + peer + " sent nothing before the deadline");
    Message message = std::move(messages.front());
    messages.pop_front();
    return message;
  }

  void abort() noexcept override {
    {
      const std::lock_guard lock(exchange_->mutex);
      exchange_->aborted = true;
    }
    exchange_->changed.notify_all();
  }

 private:
  std::shared_ptr<Exchange> exchange_;
  WorkerId me_;
  std::uint64_t last_ticket_ = 0;
  std::unordered_map<std::uint64_t, Box> asked_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> connect_in_process(int count) {
  auto exchange = std::make_shared<Exchange>();
  std::vector<std::unique_ptr<Transport>> endpoints;
  for (int worker = 0; worker < count; ++worker)
    endpoints.push_back(std::make_unique<InProcess>(exchange, WorkerId{worker}));
  return endpoints;
}

}  // namespace pipedream::transport
