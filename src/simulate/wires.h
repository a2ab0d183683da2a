// The messages between pairs of workers. Each ordered pair (sender, receiver) has a lane of its
// own, which is made when it is first used.
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

// A message that was sent and has not arrived.
struct WireMessage {
  WorkerId from;
  schedule::Send send;
  Nanos sent{0};  // when it was sent
};

// Owned by the Engine and used by its thread. Keeps references to its arguments.
class Wires {
 public:
  Wires(const cluster::Cluster& cluster, const cost::Links& links, Lanes& lanes);

  // Sends the message `send` of `bytes` bytes. It follows all earlier messages of the same sender
  // to the same receiver.
  void send(WorkerId from, const schedule::Send& send, double bytes, Nanos now);

  // Returns whether `lane` is the lane of a pair of workers.
  [[nodiscard]] bool owns(LaneId lane) const {
    return lane < by_lane_.size() && by_lane_[lane] != nullptr;
  }
  // Must be called for each finished job of a lane that it owns. Removes and returns its message.
  WireMessage arrived(LaneId lane);

 private:
  struct Wire {
    LaneId lane = 0;
    Path path;
    Fifo<WireMessage> messages;
  };
  // The wires of one sender. `recent` caches two of them, because most workers have two neighbours.
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
  std::vector<Wire*> by_lane_;   // nullptr for lanes of other classes
};

}  // namespace pipedream::simulate
