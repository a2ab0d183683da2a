// The receiving half of a backend: the messages that have arrived for one worker, and the tickets
// for messages that it asked for.
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

// The text of every backend's WorkerLost, for example "worker 1 sent nothing before the deadline".
[[nodiscard]] std::string sent_nothing(const std::set<WorkerId>& workers);

// Numbers messages from 0, separately for each peer and tag. A sender numbers the messages that it
// sends, and a receiver the messages that it asks for. A message answers the request with the same
// number, so backends may deliver messages in any order. Used by one thread.
class MessageNumbers {
 public:
  [[nodiscard]] std::uint64_t next(WorkerId peer, int tag);

 private:
  std::map<std::pair<WorkerId, int>, std::uint64_t> next_;
};

// The messages that have arrived for one worker on one channel. put() and abort() may be called
// from any thread. receive() and the waits are called by one thread, the only one that put() and
// abort() wake.
class Inbox {
 public:
  // Delivers a message. `number` is the one that the sender's MessageNumbers gave it.
  void put(WorkerId from, int tag, std::uint64_t number, Message message);

  // Makes the waits throw Aborted. Returns false, and keeps the earlier reason, if the inbox has
  // been aborted before.
  bool abort(const std::string& reason);

  // These keep the contract of the functions of Transport with the same names.
  [[nodiscard]] Ticket receive(WorkerId from, int tag);
  [[nodiscard]] Message wait(Ticket ticket, Deadline deadline);
  [[nodiscard]] Arrival wait_any(std::span<const Ticket> tickets, Deadline deadline);

 private:
  using Place = std::tuple<WorkerId, int, std::uint64_t>;  // sender, tag, message number
  struct Arrived {
    std::uint64_t number;  // counts the calls of put(): the lower number arrived first
    Message message;
  };
  [[nodiscard]] Place place_of(Ticket ticket) const;

  std::mutex mutex_;  // guards `arrived_`, `put_` and `aborted_`
  std::condition_variable changed_;
  std::map<Place, Arrived> arrived_;
  std::uint64_t put_ = 0;               // calls of put()
  std::optional<std::string> aborted_;  // the reason of the first abort()

  // Used only by the thread that receives.
  std::uint64_t last_ticket_ = 0;
  MessageNumbers numbers_;
  std::unordered_map<std::uint64_t, Place> asked_;  // by ticket number
};

}  // namespace pipedream::transport
