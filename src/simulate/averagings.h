// How the replicas of a stage average their gradients in simulated time: bucket by bucket, each as
// soon as all replicas have it, over the links of the replica group.
#pragma once

#include <optional>
#include <vector>

#include "core/fifo.h"
#include "cost/buckets.h"
#include "profile/profile.h"
#include "schedule/routes.h"
#include "simulate/lanes.h"

namespace pipedream::simulate {

// When each bucket's gradients are there, of a backward that runs from `begin` for `duration`.
[[nodiscard]] std::vector<Nanos> release_times(const std::vector<cost::Bucket>& buckets,
                                               Nanos begin, Nanos duration);

// Owned by the engine. Keeps references to `routes` and `lanes`.
class Averagings {
 public:
  // With `asynchronous`, no stage averages.
  Averagings(const schedule::Routes& routes, const profile::Profile& profile,
             const cost::Links& links, cost::Exchange exchange, bool asynchronous, Lanes& lanes);

  // Whether the stage has replicas that average.
  [[nodiscard]] bool has(StageId stage) const { return !groups_[stage.index()].buckets.empty(); }

  // One replica takes part in the averaging for `update`. Its last backward runs from `begin` for
  // `duration`.
  void join(StageId stage, WeightVersion update, Nanos begin, Nanos duration, Nanos now);

  [[nodiscard]] bool owns(LaneId lane) const {
    return lane < stage_of_.size() && stage_of_[lane].has_value();
  }
  // An averaging that is over, for all replicas of its stage.
  struct Done {
    StageId stage;
    WeightVersion update;
    Nanos began{0};
  };
  // One bucket is averaged. Returns the averaging if that was its last bucket.
  [[nodiscard]] std::optional<Done> bucket_averaged(const Lanes::Finished& job);

  // One replica goes on with the averaged gradients. Returns when the slowest replica had all its
  // gradients. Nothing if the averaging is not over: then the replica has to wait.
  [[nodiscard]] std::optional<Nanos> take(StageId stage, WeightVersion update);

 private:
  struct GroupAveraging {
    WeightVersion update;
    std::vector<Nanos> ready;  // by bucket: when the slowest replica so far has its gradients
    int members = 0;           // replicas that have joined
    int taken = 0;             // replicas that have gone on
    std::size_t buckets_done = 0;
    Nanos began{0};
    bool done = false;
  };
  struct Group {
    LaneId lane = 0;
    std::vector<Path> paths;  // that a bucket takes one after another
    std::vector<cost::Bucket> buckets;
    Fifo<GroupAveraging> averagings;  // begun, and not taken by all replicas
  };
  [[nodiscard]] static std::size_t index_of(Fifo<GroupAveraging>& averagings, WeightVersion update);

  const schedule::Routes& routes_;
  Lanes& lanes_;
  std::vector<Group> groups_;                     // by stage; without buckets where nobody averages
  std::vector<std::optional<StageId>> stage_of_;  // by lane
};

}  // namespace pipedream::simulate
