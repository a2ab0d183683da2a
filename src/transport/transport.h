// Bytes between workers. One contract for every backend; transport_test.cpp holds each to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/ids.h"

namespace pipedream::transport {

using Deadline = std::chrono::steady_clock::time_point;

// What travels: bytes that nobody changes any more, kept alive by `owner`, and a few numbers that
// describe them (a tensor's type and shape). Backends within one process hand over the same memory.
struct Message {
  std::vector<std::int64_t> header;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// A transfer under way; used once, by the endpoint that gave it.
struct Ticket {
  std::uint64_t number = 0;
};

// One worker's endpoint. Messages with one tag between one ordered pair of workers arrive in the
// order in which they were sent. send() and receive() never block; the waits do.
// Thread-compatible: one worker owns it; only abort() may come from another thread.
class Transport {
 public:
  virtual ~Transport() = default;

  // Takes the message along; it is kept alive as long as the backend needs it.
  virtual void send(WorkerId to, int tag, Message message) = 0;

  // Asks for the next message of that tag from that worker. Tickets may be waited for in any order:
  // the n-th asked for gets the n-th sent.
  [[nodiscard]] virtual Ticket receive(WorkerId from, int tag) = 0;

  // The message asked for. Throws WorkerLost when it has not come by the deadline, or on abort().
  [[nodiscard]] virtual Message wait(Ticket ticket, Deadline deadline) = 0;

  // From now on every wait of every worker throws WorkerLost at once.
  virtual void abort() noexcept = 0;
};

}  // namespace pipedream::transport
