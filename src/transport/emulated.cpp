#include "transport/emulated.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/check.h"

namespace pipedream::transport {
namespace {

// Nobody sends this to itself.
constexpr int kSleepTag = kTagLimit - 1;

class Emulated final : public Transport {
 public:
  Emulated(std::unique_ptr<Transport> inner, std::shared_ptr<LinkQueues> queues)
      : inner_(std::move(inner)), queues_(std::move(queues)) {}

  WorkerId me() const override { return inner_->me(); }
  int workers() const override { return inner_->workers(); }

  void send(WorkerId to, int tag, Message message) override {
    PD_CHECK(tag != kSleepTag);
    const Deadline arrival =
        queues_->arrival(me(), to, message.bytes.size(), std::chrono::steady_clock::now());
    message.header.push_back(Nanos(arrival.time_since_epoch()).count());
    inner_->send(to, tag, std::move(message));
  }

  Ticket receive(WorkerId from, int tag) override {
    const Ticket ticket = inner_->receive(from, tag);
    asked_.emplace(ticket.number, from);
    return ticket;
  }

  Message wait(Ticket ticket, Deadline deadline) override {
    const auto asked = asked_.extract(ticket.number);
    Message message = inner_->wait(ticket, deadline);
    const Deadline arrival{Nanos{message.header.back()}};
    message.header.pop_back();
    sleep_until(std::min(arrival, deadline));
    if (arrival > deadline && arrival > std::chrono::steady_clock::now())
      throw WorkerLost("worker " + std::to_string(asked.mapped().value) +
                       " sent nothing before the deadline");
    return message;
  }

  void abort(const std::string& reason) noexcept override { inner_->abort(reason); }

 private:
  // Waits for a message that never comes: a sleep that abort() ends whatever the backend.
  void sleep_until(Deadline time) {
    if (time <= std::chrono::steady_clock::now()) return;
    try {
      (void)inner_->wait(inner_->receive(me(), kSleepTag), time);
    } catch (const Aborted&) {
      throw;
    } catch (const WorkerLost&) {  // slept enough
    }
  }

  std::unique_ptr<Transport> inner_;
  std::shared_ptr<LinkQueues> queues_;
  std::unordered_map<std::uint64_t, WorkerId> asked_;  // from whom, by ticket
};

}  // namespace

LinkQueues::LinkQueues(const Links& links, int workers)
    : bytes_per_second_(links.bytes_per_second),
      latency_(links.latency),
      link_of_(static_cast<std::size_t>(workers)),
      free_from_(link_of_.size()) {
  PD_CHECK(bytes_per_second_ > 0 && latency_ >= Nanos{0});
  std::iota(link_of_.begin(), link_of_.end(), std::size_t{0});
  for (const std::vector<WorkerId>& group : links.shared)
    for (const WorkerId worker : group) link_of_.at(worker.index()) = group.front().index();
}

Deadline LinkQueues::arrival(WorkerId from, WorkerId to, std::size_t bytes, Deadline now) {
  const std::size_t link = link_of_.at(from.index());
  if (link == link_of_.at(to.index())) return now;
  const Nanos duration = from_seconds(static_cast<double>(bytes) / bytes_per_second_);
  const std::lock_guard lock(mutex_);
  free_from_[link] = std::max(free_from_[link], now) + duration;
  return free_from_[link] + latency_;
}

std::unique_ptr<Transport> connect_emulated(std::unique_ptr<Transport> inner,
                                            std::shared_ptr<LinkQueues> queues) {
  return std::make_unique<Emulated>(std::move(inner), std::move(queues));
}

std::vector<std::unique_ptr<Transport>> connect_emulated(
    std::vector<std::unique_ptr<Transport>> inner, const std::shared_ptr<LinkQueues>& queues) {
  for (std::unique_ptr<Transport>& endpoint : inner)
    endpoint = connect_emulated(std::move(endpoint), queues);
  return inner;
}

}  // namespace pipedream::transport
