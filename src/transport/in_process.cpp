#include "transport/in_process.h"

#include <condition_variable>
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

// The messages of one box that nobody has taken, by their number in the order of sending.
struct Stream {
  std::uint64_t sent = 0;
  std::map<std::uint64_t, Message> waiting;
};

// What all endpoints share: one stream of messages per pair and tag, under one lock. Messages are
// few and large (activations), so a finer lock would gain nothing.
struct Exchange {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Box, Stream> boxes;
  bool aborted = false;
};

class InProcess final : public Transport {
 public:
  InProcess(std::shared_ptr<Exchange> exchange, WorkerId me)
      : exchange_(std::move(exchange)), me_(me) {}

  void send(WorkerId to, int tag, Message message) override {
    {
      const std::lock_guard lock(exchange_->mutex);
      Stream& stream = exchange_->boxes[{me_, to, tag}];
      stream.waiting.emplace(stream.sent++, std::move(message));
    }
    exchange_->changed.notify_all();
  }

  Ticket receive(WorkerId from, int tag) override {
    const Box box{from, me_, tag};
    asked_[++last_ticket_] = {box, asked_so_far_[box]++};
    return {last_ticket_};
  }

  Message wait(Ticket ticket, Deadline deadline) override {
    const auto asked = asked_.find(ticket.number);
    PD_CHECK(asked != asked_.end());
    const Asked message = asked->second;
    asked_.erase(asked);
    std::unique_lock lock(exchange_->mutex);
    auto& waiting = exchange_->boxes[message.box].waiting;
    const bool woken = exchange_->changed.wait_until(
        lock, deadline, [&] { return exchange_->aborted || waiting.contains(message.number); });
    const std::string peer = std::to_string(std::get<0>(message.box).value);
    if (exchange_->aborted)
      throw WorkerLost("the run was stopped while waiting for worker " + peer);
    if (!woken) throw WorkerLost("worker " + peer + " sent nothing before the deadline");
    return std::move(waiting.extract(message.number).mapped());
  }

  void abort() noexcept override {
    {
      const std::lock_guard lock(exchange_->mutex);
      exchange_->aborted = true;
    }
    exchange_->changed.notify_all();
  }

 private:
  struct Asked {
    Box box;
    std::uint64_t number = 0;  // in its stream
  };

  std::shared_ptr<Exchange> exchange_;
  WorkerId me_;
  std::uint64_t last_ticket_ = 0;
  std::map<Box, std::uint64_t> asked_so_far_;
  std::unordered_map<std::uint64_t, Asked> asked_;  // by ticket
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
