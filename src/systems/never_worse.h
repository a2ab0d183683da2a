// Is our plan ever worse than a simpler one? Our planner and `auto` against data parallelism, the
// best straight pipeline, PipeDream's hierarchical planner, DAPPLE's and "all but one worker, then
// one" (the paper's 15-1), all by the default cost model and within the devices' memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "profile/profile.h"

namespace pipedream::systems {

// A plan and its predicted time per minibatch.
struct Measured {
  std::string config;
  double seconds = 0;
};

struct Comparison {
  std::string model;
  std::string cluster;
  std::optional<std::string> chosen;  // the system that `auto` takes
  // Nothing where no such plan fits the memory.
  std::optional<Measured> best;  // what `auto` takes
  std::optional<Measured> ours;  // pipedream by our planner
  std::optional<Measured> data_parallel;
  std::optional<Measured> straight;
  std::optional<Measured> hierarchical;
  std::optional<Measured> dapple;
  std::optional<Measured> all_but_one;
};

[[nodiscard]] Comparison compare_plans(const profile::Profile& profile,
                                       const cluster::Cluster& cluster);

// The names of the plans that beat `auto` (by more than kAsFast, within which it prefers the
// gentler system), and of those of pipedream's form that beat our planner: none, if all is well.
[[nodiscard]] std::vector<std::string> better_ones(const Comparison& comparison);

}  // namespace pipedream::systems
