// The interface by which workers send each other messages, whatever carries them: threads, MPI,
// NCCL or emulated links. docs/runtime.md says what runs on it. Every backend keeps the contract
// below; transport_test.cpp and abort_test.cpp check it.
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

// A point in time on the steady clock, whether or not anything expires at it.
using Deadline = std::chrono::steady_clock::time_point;

// Returns whether a device has finished writing some memory. An empty function means that it has.
// May be called from any thread.
using Readiness = std::function<bool()>;

// Blocks until `is_ready` returns true; an abort() does not end the wait. Returns at once if
// `is_ready` is empty.
void wait_until(const Readiness& is_ready);

// What one send() transfers: `bytes`, and in `header` a few numbers that describe them (a tensor's
// type and shape). `owner` keeps the bytes alive, and nobody changes them while anybody else
// holds it. A backend within one process hands the receiver the same memory, which may be a
// device's, together with `is_ready`. Other backends read the bytes once they are ready.
struct Message {
  std::vector<std::int64_t> header;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  Readiness is_ready = {};
  bool on_device = false;  // `bytes` lie in a device's memory, not in the host's
};

// Names one pending operation. Used once, with the object that returned it.
struct Ticket {
  std::uint64_t number = 0;
};

// The result of wait_any().
struct Arrival {
  std::size_t ticket = 0;  // index into the `tickets` waited for
  Message message;
};

// Tags are 0 … kTagLimit − 1. Use few: an endpoint keeps a counter for each tag and peer for ever.
constexpr int kTagLimit = 1 << 28;
// Reserved for sleep_until(): no worker sends itself a message with this tag.
constexpr int kSleepTag = kTagLimit - 1;

// Thrown by the waits after an abort(); what() is the reason given to the first abort(). It is the
// consequence of another failure, and that failure is the one to report.
struct Aborted : WorkerLost {
  using WorkerLost::WorkerLost;
};

class PeerMemory;  // peer_memory.h

// One worker's endpoint of a channel between all workers, used by that worker alone. One thread
// sends, and one thread (the same or another) receives and waits; abort() may be called from any
// thread. A worker with more threads connects several channels. Channels are independent: neither
// messages nor an abort() pass from one to another.
//
// Messages with one tag from one worker to another, or to itself, arrive in the order of sending.
// send() and receive() never block (emulated.h has an exception); wait() and wait_any() do.
class Transport {
 public:
  virtual ~Transport() = default;

  // Workers are 0 … workers() − 1.
  [[nodiscard]] virtual WorkerId me() const = 0;
  [[nodiscard]] virtual int workers() const = 0;

  // Whether messages in a device's memory may be sent. If not, only messages in the host's may.
  [[nodiscard]] virtual bool takes_device_memory() const = 0;

  // How to read the memory of other workers; null if this backend cannot. Lives as long as the
  // endpoint.
  [[nodiscard]] virtual const PeerMemory* peer_memory() const { return nullptr; }

  // Sends `message` and returns. The backend holds the message's `owner` as long as it needs it.
  virtual void send(WorkerId to, int tag, Message message) = 0;

  // Asks for the next message with tag `tag` from worker `from`. The n-th call for a worker and tag
  // gets the n-th message sent, in whatever order the tickets are waited for.
  [[nodiscard]] virtual Ticket receive(WorkerId from, int tag) = 0;

  // Returns the message asked for. Throws WorkerLost if it has not arrived by `deadline`, and
  // Aborted after an abort(). The ticket cannot be used again in any case.
  [[nodiscard]] virtual Message wait(Ticket ticket, Deadline deadline) = 0;

  // Returns the first message to arrive of those asked for, and throws as wait() does. Only the
  // ticket of the returned message is used up; the others may be waited for again, also after a
  // WorkerLost. Requires at least one ticket.
  [[nodiscard]] virtual Arrival wait_any(std::span<const Ticket> tickets, Deadline deadline) = 0;

  // From now on every wait of every worker on this channel throws Aborted at once, even for
  // messages that have arrived. Only the first call has an effect.
  virtual void abort(const std::string& reason) noexcept = 0;
};

// Returns at `time`. Unlike other sleeps it throws Aborted at once after an abort(), even if `time`
// has passed already. To be called by the thread that receives and waits.
void sleep_until(Transport& transport, Deadline time);

// The index of `worker` in `members`. Requires that it is one of them.
[[nodiscard]] inline std::size_t place_in(std::span<const WorkerId> members, WorkerId worker) {
  const auto place = std::find(members.begin(), members.end(), worker);
  PD_CHECK(place != members.end());
  return static_cast<std::size_t>(place - members.begin());
}

}  // namespace pipedream::transport
