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
struct TimedPlan {
  std::string config;
  double seconds = 0;
};

struct Comparison {
  std::string model;
  std::string cluster;
  std::optional<std::string> chosen;  // the system that `auto` takes
  // Nothing where no such plan fits the memory.
  std::optional<TimedPlan> best;  // what `auto` takes
  std::optional<TimedPlan> ours;  // pipedream by our planner
  std::optional<TimedPlan> data_parallel;
  std::optional<TimedPlan> straight;
  std::optional<TimedPlan> hierarchical;
  std::optional<TimedPlan> dapple;
  std::optional<TimedPlan> all_but_one;
};

[[nodiscard]] Comparison compare_plans(const profile::Profile& profile,
                                       const cluster::Cluster& cluster);

// The names of the plans that beat `auto` (by more than kAsFast, within which it prefers the
// gentler system), and of those of pipedream's form that beat our planner: none, if all is well.
[[nodiscard]] std::vector<std::string> better_ones(const Comparison& comparison);

}  // namespace pipedream::systems
