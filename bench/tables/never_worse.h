// Is our plan ever worse than a simpler one? Our planner and `auto` against data parallelism, the
// best straight pipeline, PipeDream's hierarchical planner, DAPPLE's, and "all but one worker, then
// one" (the paper's 15-1), all by the default cost model and within the devices' memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "profile/profile.h"

namespace pipedream::bench {

// A plan and its predicted time per minibatch.
struct TimedPlan {
  std::string config;
  double seconds = 0;
};

// Plans are empty where none of that kind fits the memory.
struct Comparison {
  std::string model;
  std::string cluster;
  std::optional<std::string> chosen;   // the system that `auto` takes
  std::optional<TimedPlan> best;       // and its plan
  std::optional<std::string> fastest;  // the system that `auto` takes if speed is preferred
  std::optional<TimedPlan> speedy;     // and its plan
  std::optional<TimedPlan> ours;       // pipedream by our planner
  std::optional<TimedPlan> data_parallel;
  std::optional<TimedPlan> straight;
  std::optional<TimedPlan> hierarchical;
  std::optional<TimedPlan> dapple;
  std::optional<TimedPlan> all_but_one;
};

[[nodiscard]] Comparison compare_plans(const profile::Profile& profile,
                                       const cluster::Cluster& cluster);

// The names of the plans that are better than what should be the best, none if all is well:
//  - plans that beat `auto` where speed is preferred, by more than systems::kAsFast;
//  - exact systems' plans that beat `auto`, by more than systems::kAsFast;
//  - pipedream's plan, if it beats `auto` by more than staleness is worth;
//  - plans of pipedream's form that beat our planner.
[[nodiscard]] std::vector<std::string> better_ones(const Comparison& comparison);

}  // namespace pipedream::bench
