// Pipelines without a model, which `pipedream schedule` shows. On every stage, a forward takes one
// unit of time and a backward takes a few units. Transfers take no time.
#pragma once

#include "systems/schedules.h"

namespace pipedream::systems {

struct UnitWishes {
  std::string system = "pipedream";
  std::vector<int> replicas;  // of each stage; for interleaved pipelines, 1 for each worker
  std::optional<int> chunks;  // only for interleaved pipelines: stages per worker; nullopt: 2
  int microbatches = 1;       // per minibatch; ignored if the system does not cut minibatches
  int accumulate = 1;         // minibatches of an update (plan::Plan::accumulate)
  cost::Depth depth = cost::Depth::kBest;
  int most_depth = 0;   // only for Depth::kUpTo: limit on the first stage's depth
  bool deeper = false;  // only for dapple: warm-up policy B, 2(S−i)−1 instead of S−i
  bool recompute = false;
  int backward = 2;  // the time of a backward, in units
};

struct UnitCase {
  plan::Plan plan;
  profile::Profile profile;
  cluster::Cluster cluster;
};

inline constexpr Nanos kUnit{1000};  // the time of a forward

// Returns the pipeline. Throws BadUsage for a wish that means nothing to the system.
[[nodiscard]] UnitCase unit_case(const UnitWishes& wishes);

}  // namespace pipedream::systems
