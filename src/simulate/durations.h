// How long each op of a stage takes on a worker.
#pragma once

#include "cluster/cluster.h"
#include "cost/compute.h"
#include "profile/profile.h"
#include "schedule/routes.h"
#include "simulate/simulate.h"

namespace pipedream::simulate {

// One item of a stage on one worker.
struct ItemTimes {
  Nanos forward{0};
  Nanos backward{0};  // half of it for the gradients of the inputs, half for those of the weights
  Nanos load{0};
  double bytes_share = 1;  // of a value's bytes that a whole item has
};

// What one item of a stage is.
[[nodiscard]] cost::ItemShare item_share(const schedule::Routes& routes,
                                         const profile::Profile& profile, StageId stage);

[[nodiscard]] ItemTimes item_times(const schedule::Routes& routes, const profile::Profile& profile,
                                   const cluster::Cluster& cluster, const Conditions& conditions,
                                   StageId stage, int replica);

// A factor around 1 that depends on seed, worker, op and item alone.
[[nodiscard]] double jitter_of(const Conditions& conditions, WorkerId worker, StageId stage,
                               schedule::Item item, int what);

}  // namespace pipedream::simulate
