// The receiving half of a backend: what has arrived for one worker, and what it asked for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "transport/transport.h"

namespace pipedream::transport {

// "worker 1 sent nothing before the deadline": what every backend's WorkerLost says.
[[nodiscard]] std::string sent_nothing(const std::set<WorkerId>& workers);

// Counts messages from 0, per peer and tag: a sender those that it sent, a receiver those that it
// asked for. Equal numbers belong together, so backends may deliver in any order.
class MessageNumbers {
 public:
  [[nodiscard]] std::uint64_t next(WorkerId peer, int tag);

 private:
  std::map<std::pair<WorkerId, int>, std::uint64_t> next_;
};

// put() and abort() may come from any thread, receive() and wait() from the owner's. Only the owner
// is woken by what is put here.
class Inbox {
 public:
  void put(WorkerId from, int tag, std::uint64_t number, Message message);

  // Keeps the first reason; false if there was one before.
  bool abort(const std::string& reason);

  // As in Transport.
  [[nodiscard]] Ticket receive(WorkerId from, int tag);
  [[nodiscard]] Message wait(Ticket ticket, Deadline deadline);
  [[nodiscard]] Arrival wait_any(std::span<const Ticket> tickets, Deadline deadline);

 private:
  using Place = std::tuple<WorkerId, int, std::uint64_t>;  // from, tag, number
  struct Arrived {
    std::uint64_t number;  // in the order of put()
    Message message;
  };
  [[nodiscard]] Place place_of(Ticket ticket) const;

  std::mutex mutex_;  // of the four below
  std::condition_variable changed_;
  std::map<Place, Arrived> arrived_;
  std::uint64_t put_ = 0;
  std::optional<std::string> aborted_;

  std::uint64_t last_ticket_ = 0;
  MessageNumbers numbers_;
  std::unordered_map<std::uint64_t, Place> asked_;  // by ticket
};

}  // namespace pipedream::transport
