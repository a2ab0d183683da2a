// The messages between pairs of workers. Each ordered pair has a lane of its own, made when it is
// first used.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cluster/cluster.h"
#include "core/fifo.h"
#include "schedule/ops.h"
#include "simulate/lanes.h"

namespace pipedream::simulate {

// A value on its way.
struct WireMessage {
  WorkerId from;
  schedule::Send send;
  Nanos sent{0};
};

// Owned by the engine. Keeps references to its arguments.
class Wires {
 public:
  Wires(const cluster::Cluster& cluster, const cost::Links& links, Lanes& lanes);

  // Sends `bytes` to the peer of `send`, behind what is on that wire already.
  void send(WorkerId from, const schedule::Send& send, double bytes, Nanos now);

  [[nodiscard]] bool owns(LaneId lane) const {
    return lane < by_lane_.size() && by_lane_[lane] != nullptr;
  }
  // The message whose transfer on that lane is over.
  WireMessage arrived(LaneId lane);

 private:
  struct Wire {
    LaneId lane = 0;
    Path path;
    Fifo<WireMessage> messages;
  };
  // The wires of one sender. Most workers have two neighbours, so the last two are looked at first.
  struct Sender {
    std::unordered_map<std::int32_t, std::unique_ptr<Wire>> wires;  // by receiver
    struct Recent {
      WorkerId peer{-1};
      Wire* wire = nullptr;
    };
    std::array<Recent, 2> recent;
  };
  Wire& wire(WorkerId from, WorkerId to);
  std::unique_ptr<Wire> make(WorkerId from, WorkerId to);

  const cluster::Cluster& cluster_;
  const cost::Links& links_;
  Lanes& lanes_;
  std::vector<Sender> senders_;  // by worker
  std::vector<Wire*> by_lane_;   // null for lanes of others
};

}  // namespace pipedream::simulate
