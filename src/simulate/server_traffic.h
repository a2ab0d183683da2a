// What the workers of asynchronous data parallelism exchange with the parameter servers in
// simulated time. Every worker is a server of its share of the weights.
#pragma once

#include <optional>
#include <vector>

#include "core/fifo.h"
#include "cost/buckets.h"
#include "plan/plan.h"
#include "profile/profile.h"
#include "schedule/ops.h"
#include "simulate/lanes.h"

namespace pipedream::simulate {

// Owned by the engine. Keeps a reference to `lanes`.
class ServerTraffic {
 public:
  explicit ServerTraffic(Lanes& lanes) : lanes_(lanes) {}

  // Adds the next worker of the plan's only stage; they are numbered from 0.
  void add_worker(WorkerId worker, const plan::Stage& stage, const profile::Profile& profile,
                  const cost::Links& links);

  // Sends a minibatch's gradients, bucket by bucket. Its backward runs from `begin` for `duration`.
  void push(std::uint32_t worker, const schedule::Push& op, Nanos begin, Nanos duration, Nanos now);
  // Asks for the weights, the first time it is called for a Pull. They are what the servers hold
  // once they have this worker's own gradients. Returns when their transfer began; nothing while
  // they are not here.
  [[nodiscard]] std::optional<Nanos> pull(std::uint32_t worker, Nanos now);

  [[nodiscard]] bool owns(LaneId lane) const {
    return lane < worker_of_.size() && worker_of_[lane].has_value();
  }
  // What a finished transfer was: all gradients of a push, the weights of a pull, or a part of a
  // push (neither).
  struct Done {
    std::uint32_t worker = 0;
    bool pulled = false;
    std::optional<schedule::Push> pushed;
    Nanos began{0};  // of the push
  };
  [[nodiscard]] Done moved(const Lanes::Finished& job);

 private:
  struct Transfer {
    bool is_pull;
    bool is_last;  // of a push
  };
  struct Traffic {
    LaneId lane = 0;
    Path push;
    Path pull;
    std::vector<cost::Bucket> buckets;
    Fifo<Transfer> transfers;
    schedule::Push pushing;
    std::optional<Nanos> push_began;
    bool asked = false;                 // for weights
    std::optional<Nanos> pulled_since;  // the weights are here; when their transfer began
  };

  Lanes& lanes_;
  std::vector<Traffic> workers_;
  std::vector<std::optional<std::uint32_t>> worker_of_;  // by lane
};

}  // namespace pipedream::simulate
