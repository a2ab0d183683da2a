// Bytes between workers. One contract for every backend; transport_test.cpp holds each to it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/error.h"
#include "core/ids.h"

namespace pipedream::transport {

using Deadline = std::chrono::steady_clock::time_point;

// Whether memory that a device writes to has its content yet; an empty one says that it has. May be
// called from any thread.
using Readiness = std::function<bool()>;

// Returns when that says yes.
void wait_until(const Readiness& is_ready);

// What travels: bytes that nobody changes while anybody holds their `owner`, which keeps them
// alive, and a few numbers that describe them (a tensor's type and shape). Backends within one
// process hand over the same memory, which may be a device's, and `is_ready` with it; others read
// the bytes once they are ready.
struct Message {
  std::vector<std::int64_t> header;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  Readiness is_ready = {};
  bool on_device = false;  // the bytes are not the host's
};

// A transfer under way; used once, by the endpoint that gave it.
struct Ticket {
  std::uint64_t number = 0;
};

// What came for one of several tickets.
struct Arrival {
  std::size_t ticket = 0;  // its place among them
  Message message;
};

// Tags are 0 … kTagLimit − 1. Each one used costs a counter for good: use few. Nobody sends
// the last to itself: sleep_until() waits for it.
constexpr int kTagLimit = 1 << 28;
constexpr int kSleepTag = kTagLimit - 1;

// Somebody stopped the transport; what() is the reason of the first abort(). It follows from
// another failure, which is the one to report.
struct Aborted : WorkerLost {
  using WorkerLost::WorkerLost;
};

// One worker's endpoint. Messages with one tag between one ordered pair of workers, who may be the
// same, arrive in the order in which they were sent. send() and receive() never block; the waits
// do. One thread sends, and one, the same or another, receives and waits; abort() may come from
// any. A worker with more threads connects several times: such channels do not hear each other, nor
// each other's abort().
class Transport {
 public:
  virtual ~Transport() = default;

  // Workers are 0 … workers() − 1.
  [[nodiscard]] virtual WorkerId me() const = 0;
  [[nodiscard]] virtual int workers() const = 0;

  // Whether what is sent may be a device's memory. Where not, it must be the host's.
  [[nodiscard]] virtual bool takes_device_memory() const = 0;

  // Takes the message along; it is kept alive as long as the backend needs it.
  virtual void send(WorkerId to, int tag, Message message) = 0;

  // Asks for the next message of that tag from that worker. Tickets may be waited for in any order:
  // the n-th asked for gets the n-th sent.
  [[nodiscard]] virtual Ticket receive(WorkerId from, int tag) = 0;

  // The message asked for. Throws WorkerLost when it has not come by the deadline, and Aborted
  // after an abort(). The ticket is spent in any case.
  [[nodiscard]] virtual Message wait(Ticket ticket, Deadline deadline) = 0;

  // The message that comes first of those asked for. Only its ticket is spent; the others may be
  // waited for again, also after WorkerLost. Requires a ticket.
  [[nodiscard]] virtual Arrival wait_any(std::span<const Ticket> tickets, Deadline deadline) = 0;

  // From now on every wait of every worker throws Aborted at once, even for messages that are
  // there. Only the first call counts.
  virtual void abort(const std::string& reason) noexcept = 0;
};

// Returns at that time, or, unlike other sleeps, throws Aborted at once after an abort(), also
// where that time is over. For the thread that waits.
void sleep_until(Transport& transport, Deadline time);

// Where a worker stands among members, of whom it is one.
[[nodiscard]] inline std::size_t place_in(std::span<const WorkerId> members, WorkerId worker) {
  const auto place = std::find(members.begin(), members.end(), worker);
  PD_CHECK(place != members.end());
  return static_cast<std::size_t>(place - members.begin());
}

}  // namespace pipedream::transport
