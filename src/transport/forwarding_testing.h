// A transport that forwards all calls to another. Tests derive from it and override one function.
// Only *_test.cpp files include this.
#pragma once

#include <utility>

#include "transport/transport.h"

namespace pipedream::transport {

// `inner` must outlive it.
class Forwarding : public Transport {
 public:
  explicit Forwarding(Transport& inner) : inner_(inner) {}

  WorkerId me() const override { return inner_.me(); }
  int workers() const override { return inner_.workers(); }
  bool takes_device_memory() const override { return inner_.takes_device_memory(); }
  const PeerMemory* peer_memory() const override { return inner_.peer_memory(); }
  void send(WorkerId to, int tag, Message message) override {
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
};

}  // namespace pipedream::transport
