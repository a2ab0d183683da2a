// How long the ops of a stage take on a worker (docs/simulator.md).
#pragma once

#include "cluster/cluster.h"
#include "cost/compute.h"
#include "profile/profile.h"
#include "schedule/routes.h"
#include "simulate/simulate.h"

namespace pipedream::simulate {

// The times of one item of a stage on one worker.
struct ItemTimes {
  Nanos forward{0};   // also the time of a recomputation
  Nanos backward{0};  // each part of a split backward takes half of it
  Nanos load{0};      // reading the item's data
  // Size of a value for a whole item, as a part of its size for the profile's minibatch.
  double bytes_share = 1;
};

// Returns which part of the profile's minibatch one item of `stage` is.
[[nodiscard]] cost::ItemShare item_share(const schedule::Routes& routes,
                                         const profile::Profile& profile, StageId stage);

// Returns the times of one item on replica `replica` of `stage`, without jitter.
[[nodiscard]] ItemTimes item_times(const schedule::Routes& routes, const profile::Profile& profile,
                                   const cluster::Cluster& cluster, const Conditions& conditions,
                                   StageId stage, int replica);

// Returns a random factor between 1 − jitter and 1 + jitter. It depends on the seed and on the
// other arguments alone. `what` is a number for the kind of op.
[[nodiscard]] double jitter_of(const Conditions& conditions, WorkerId worker, StageId stage,
                               schedule::Item item, int what);

}  // namespace pipedream::simulate
