// A pipeline without a model: every stage takes one unit forward and a few backward, transfers take
// no time. What `pipedream schedule` shows.
#pragma once

#include "systems/schedules.h"

namespace pipedream::systems {

struct UnitWishes {
  std::string system = "pipedream";
  std::vector<int> replicas;  // of each stage
  std::optional<int> chunks;  // stages per worker, of interleaved pipelines: else 2
  int microbatches = 1;       // where the system cuts minibatches
  cost::Depth depth = cost::Depth::kBest;
  int most_depth = 0;   // for Depth::kUpTo
  bool deeper = false;  // dapple's warm-up policy B: 2(S−i)−1 instead of S−i
  bool recompute = false;
  int backward = 2;  // units of a backward
};

struct UnitCase {
  plan::Plan plan;
  profile::Profile profile;
  cluster::Cluster cluster;
};

inline constexpr Nanos kUnit{1000};

// Throws BadUsage for what the system does not know.
[[nodiscard]] UnitCase unit_case(const UnitWishes& wishes);

}  // namespace pipedream::systems
