// Counts the bytes that pass a transport.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "transport/transport.h"

namespace pipedream::transport {

// The bytes that a worker has sent to each worker, over all transports that count into it. Any
// thread may use it.
class SentBytes {
 public:
  explicit SentBytes(int workers) : sent_(static_cast<std::size_t>(workers)) {}
  void add(WorkerId to, std::size_t bytes) {
    sent_.at(to.index()).fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }
  // By worker.
  [[nodiscard]] std::vector<std::int64_t> now() const {
    std::vector<std::int64_t> bytes;
    for (const auto& each : sent_) bytes.push_back(each.load(std::memory_order_relaxed));
    return bytes;
  }

 private:
  std::vector<std::atomic<std::int64_t>> sent_;
};

// Passes all calls to `inner`, and counts what is sent. Both arguments must outlive it.
class Counting final : public Transport {
 public:
  Counting(Transport& inner, SentBytes& sent) : inner_(inner), sent_(sent) {}

  WorkerId me() const override { return inner_.me(); }
  int workers() const override { return inner_.workers(); }
  bool takes_device_memory() const override { return inner_.takes_device_memory(); }
  const PeerMemory* peer_memory() const override { return inner_.peer_memory(); }
  void send(WorkerId to, int tag, Message message) override {
    sent_.add(to, message.bytes.size());
    inner_.send(to, tag, std::move(message));
  }
  Ticket receive(WorkerId from, int tag) override { return inner_.receive(from, tag); }
  Message wait(Ticket ticket, Deadline deadline) override { return inner_.wait(ticket, deadline); }
  Arrival wait_any(std::span<const Ticket> tickets, Deadline deadline) override {
    return inner_.wait_any(tickets, deadline);
  }
  void abort(const std::string& reason) noexcept override { inner_.abort(reason); }

 private:
  Transport& inner_;
  SentBytes& sent_;
};

}  // namespace pipedream::transport
