// The traffic between the workers of asynchronous data parallelism and the parameter servers, in
// simulated time. Every worker runs a server for its share of the weights.
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

// Owned by the Engine and used by its thread. Keeps a reference to `lanes`.
class ServerTraffic {
 public:
  explicit ServerTraffic(Lanes& lanes) : lanes_(lanes) {}

  // Adds a worker. Workers are numbered from 0, in the order of these calls. `stage` is the plan's
  // only stage.
  void add_worker(WorkerId worker, const plan::Stage& stage, const profile::Profile& profile,
                  const cost::Links& links);

  // Sends the gradients of a minibatch to the servers, bucket by bucket. The minibatch's backward
  // runs from `begin` for `duration`.
  void push(std::uint32_t worker, const schedule::Push& op, Nanos begin, Nanos duration, Nanos now);
  // Called each time that the worker tries to pass a Pull. The first call requests the weights;
  // their transfer begins after this worker's own gradients have arrived at the servers. Returns
  // when the transfer began, or nullopt while the weights have not arrived.
  [[nodiscard]] std::optional<Nanos> pull(std::uint32_t worker, Nanos now);

  // Returns whether `lane` carries the traffic of a worker with the servers.
  [[nodiscard]] bool owns(LaneId lane) const {
    return lane < worker_of_.size() && worker_of_[lane].has_value();
  }
  // What a finished job completes: a pull, a push, or neither if further buckets of the push
  // follow.
  struct Done {
    std::uint32_t worker = 0;
    bool pulled = false;                   // the weights have arrived
    std::optional<schedule::Push> pushed;  // the push whose last bucket has arrived
    Nanos began{0};                        // for `pushed`: when its first bucket began to move
  };
  // Must be called for each finished job of a lane that it owns.
  [[nodiscard]] Done moved(const Lanes::Finished& job);

 private:
  struct Transfer {
    bool is_pull;
    bool is_last;  // for a push: it is the last bucket
  };
  // The traffic of one worker.
  struct Traffic {
    LaneId lane = 0;
    Path push;
    Path pull;
    std::vector<cost::Bucket> buckets;
    Fifo<Transfer> transfers;           // the jobs on the lane, in order
    schedule::Push pushing;             // the latest push
    std::optional<Nanos> push_began;    // when the first bucket of `pushing` began to move
    bool asked = false;                 // the weights are requested and not yet returned by pull()
    std::optional<Nanos> pulled_since;  // once the weights have arrived: when they left
  };

  Lanes& lanes_;
  std::vector<Traffic> workers_;
  std::vector<std::optional<std::uint32_t>> worker_of_;  // by lane: number of the worker
};

}  // namespace pipedream::simulate
