// How the replicas of a stage average their gradients in simulated time: bucket by bucket, over the
// links of the replica group. A bucket starts once all replicas have computed its gradients.
#pragma once

#include <optional>
#include <vector>

#include "core/fifo.h"
#include "cost/buckets.h"
#include "profile/profile.h"
#include "schedule/routes.h"
#include "simulate/lanes.h"

namespace pipedream::simulate {

// Returns for each bucket when all its gradients exist, in a backward that runs from `begin` for
// `duration`.
[[nodiscard]] std::vector<Nanos> release_times(const std::vector<cost::Bucket>& buckets,
                                               Nanos begin, Nanos duration);

// The averagings of all stages. Owned by the Engine and used by its thread. Keeps references to
// `routes` and `lanes`.
class Averagings {
 public:
  // If `asynchronous`, no stage averages.
  Averagings(const schedule::Routes& routes, const profile::Profile& profile,
             const cost::Links& links, cost::Exchange exchange, bool asynchronous, Lanes& lanes);

  // Returns whether the stage has replicas that average their gradients.
  [[nodiscard]] bool has(StageId stage) const { return !groups_[stage.index()].buckets.empty(); }

  // One replica of `stage` joins the averaging for `update`. The backward that completes its
  // gradients runs from `begin` for `duration`; 0 if the gradients are complete at `begin`. Once
  // all replicas have joined, the buckets go to the lane of the replica group.
  void join(StageId stage, WeightVersion update, Nanos begin, Nanos duration, Nanos now);

  // An averaging that is complete for all replicas of its stage.
  struct Done {
    StageId stage;
    WeightVersion update;
    Nanos began{0};  // when its first bucket began to move
  };
  // Must be called for each finished job of a lane that it owns: one bucket is averaged. Returns
  // the averaging if that was its last bucket, else nullopt.
  [[nodiscard]] std::optional<Done> bucket_averaged(const Lanes::Finished& job);

  // Called when a replica reaches its Await. If the averaging is complete, the replica goes on, and
  // the result is the time at which the slowest replica had all its gradients. Returns nullopt if
  // the averaging is not complete, so that the replica has to wait.
  [[nodiscard]] std::optional<Nanos> take(StageId stage, WeightVersion update);

 private:
  // One averaging of one replica group.
  struct GroupAveraging {
    WeightVersion update;
    std::vector<Nanos> ready;  // by bucket: when the slowest replica that has joined has it
    int members = 0;           // replicas that have joined
    int taken = 0;             // replicas that have passed their Await
    std::size_t buckets_done = 0;
    Nanos began{0};     // when the first bucket began to move
    bool done = false;  // all buckets are averaged
  };
  // The replicas of one stage.
  struct Group {
    LaneId lane = 0;
    std::vector<Path> paths;  // the paths of a bucket, one after another
    std::vector<cost::Bucket> buckets;
    Fifo<GroupAveraging> averagings;  // begun, and not yet taken by all replicas
  };
  // Returns the index of the averaging for `update`, or the size of `averagings` if there is none.
  [[nodiscard]] static std::size_t index_of(Fifo<GroupAveraging>& averagings, WeightVersion update);

  const schedule::Routes& routes_;
  Lanes& lanes_;
  std::vector<Group> groups_;                     // by stage; no buckets if it does not average
  std::vector<std::optional<StageId>> stage_of_;  // by lane: the stage whose replicas use it
};

}  // namespace pipedream::simulate
