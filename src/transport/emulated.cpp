#include "transport/emulated.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/check.h"
#include "transport/inbox.h"

namespace pipedream::transport {
namespace {

class Emulated final : public Transport {
 public:
  Emulated(std::unique_ptr<Transport> inner, std::shared_ptr<LinkQueues> queues)
      : inner_(std::move(inner)), queues_(std::move(queues)) {}

  WorkerId me() const override { return inner_->me(); }
  int workers() const override { return inner_->workers(); }
  bool takes_device_memory() const override { return inner_->takes_device_memory(); }

  // Waits until a device has written the bytes: before that nothing would be on the link.
  void send(WorkerId to, int tag, Message message) override {
    PD_CHECK(tag != kSleepTag);
    wait_until(message.is_ready);
    const Deadline arrival =
        queues_->arrival(me(), to, message.bytes.size(), std::chrono::steady_clock::now());
    message.header.push_back(Nanos(arrival.time_since_epoch()).count());
    inner_->send(to, tag, std::move(message));
  }

  Ticket receive(WorkerId from, int tag) override {
    const Ticket ticket = inner_->receive(from, tag);
    asked_.emplace(ticket.number, Asked{from, {}});
    return ticket;
  }

  Message wait(Ticket ticket, Deadline deadline) override {
    try {
      return wait_any({&ticket, 1}, deadline).message;
    } catch (...) {
      asked_.erase(ticket.number);
      throw;
    }
  }

  // Holds each message that the inner transport delivers until its time of arrival. A message that
  // is delivered later may be due earlier.
  Arrival wait_any(std::span<const Ticket> tickets, Deadline deadline) override {
    for (bool looked = false;; looked = true) {
      const Deadline now = std::chrono::steady_clock::now();
      const std::optional<std::size_t> next = next_held(tickets);
      const Deadline arrival =
          next ? asked_.at(tickets[*next].number).held->first : Deadline::max();
      if (arrival <= now) {
        if (!looked) sleep_until(*inner_, now);  // throws Aborted after an abort()
        return hand_over(tickets, *next);
      }
      if (looked && deadline <= now && arrival > deadline) throw WorkerLost(nothing_from(tickets));
      hold_another(tickets, std::min(arrival, deadline));
    }
  }

  void abort(const std::string& reason) noexcept override { inner_->abort(reason); }

 private:
  struct Asked {
    WorkerId from;
    std::optional<std::pair<Deadline, Message>> held;  // its time, and the message
  };

  // The index into `tickets` of the held message that is due first; nullopt if none is held.
  [[nodiscard]] std::optional<std::size_t> next_held(std::span<const Ticket> tickets) const {
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < tickets.size(); ++i) {
      const auto& held = asked_.at(tickets[i].number).held;
      if (held && (!next || held->first < asked_.at(tickets[*next].number).held->first)) next = i;
    }
    return next;
  }
  [[nodiscard]] Arrival hand_over(std::span<const Ticket> tickets, std::size_t place) {
    auto asked = asked_.extract(tickets[place].number);
    return {place, std::move(asked.mapped().held->second)};
  }
  // Waits until the inner transport delivers one more of the messages, which is then held, or until
  // the time `until`.
  void hold_another(std::span<const Ticket> tickets, Deadline until) {
    std::vector<Ticket> open;
    for (const Ticket ticket : tickets)
      if (!asked_.at(ticket.number).held) open.push_back(ticket);
    if (open.empty()) return sleep_until(*inner_, until);
    try {
      Arrival arrival = inner_->wait_any(open, until);
      const Deadline time{Nanos{arrival.message.header.back()}};
      arrival.message.header.pop_back();
      asked_.at(open[arrival.ticket].number).held.emplace(time, std::move(arrival.message));
    } catch (const Aborted&) {
      throw;
    } catch (const WorkerLost&) {  // nothing was delivered until then
    }
  }
  [[nodiscard]] std::string nothing_from(std::span<const Ticket> tickets) const {
    std::set<WorkerId> workers;
    for (const Ticket ticket : tickets) workers.insert(asked_.at(ticket.number).from);
    return sent_nothing(workers);
  }

  std::unique_ptr<Transport> inner_;
  std::shared_ptr<LinkQueues> queues_;
  std::unordered_map<std::uint64_t, Asked> asked_;  // by ticket number
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
