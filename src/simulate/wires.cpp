#include "simulate/wires.h"

namespace pipedream::simulate {

Wires::Wires(const cluster::Cluster& cluster, const cost::Links& links, Lanes& lanes)
    : cluster_(cluster),
      links_(links),
      lanes_(lanes),
      senders_(static_cast<std::size_t>(cluster.workers())) {}

std::unique_ptr<Wires::Wire> Wires::make(WorkerId from, WorkerId to) {
  const cluster::Level& level = cluster_.levels[cluster_.level_between(from, to)];
  auto made = std::make_unique<Wire>();
  made->lane = lanes_.add(level.latency, false);
  made->path = lanes_.path(cost::transfer_uses(links_, from, to));
  by_lane_.resize(made->lane + 1);
  by_lane_[made->lane] = made.get();
  return made;
}

Wires::Wire& Wires::wire(WorkerId from, WorkerId to) {
  Sender& sender = senders_[from.index()];
  for (const Sender::Recent& known : sender.recent)
    if (known.peer == to) return *known.wire;
  std::unique_ptr<Wire>& wire = sender.wires[to.value];
  if (wire == nullptr) wire = make(from, to);
  sender.recent = {Sender::Recent{to, wire.get()}, sender.recent[0]};
  return *wire;
}

void Wires::send(WorkerId from, const schedule::Send& send, double bytes, Nanos now) {
  Wire& on = wire(from, send.peer);
  on.messages.push({from, send, now});
  lanes_.push(on.lane, now, now, bytes, on.path);
}

WireMessage Wires::arrived(LaneId lane) {
  Fifo<WireMessage>& messages = by_lane_[lane]->messages;
  const WireMessage first = messages.front();
  messages.pop();
  return first;
}

}  // namespace pipedream::simulate
