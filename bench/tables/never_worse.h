// Checks whether our plan is ever worse than a simpler one (docs/never_worse.md). Our planner and
// `auto` are compared with data parallelism, the best straight pipeline, PipeDream's hierarchical
// planner, DAPPLE's planner, and "all workers but one, then one" (the paper's 15-1). All times are
// simulated, and all plans are within the memory of the devices.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "profile/profile.h"

namespace pipedream::bench {

// A plan and its simulated time per minibatch.
struct TimedPlan {
  std::string config;
  double seconds = 0;
};

// The plans for one model on one cluster. A plan is empty if no plan of its kind fits the memory.
struct Comparison {
  std::string model;
  std::string cluster;
  std::optional<std::string> chosen;   // the system that `auto` chooses
  std::optional<TimedPlan> best;       // the plan of the system `chosen`
  std::optional<std::string> fastest;  // the system that `auto` chooses if speed is preferred
  std::optional<TimedPlan> speedy;     // the plan of the system `fastest`
  std::optional<TimedPlan> ours;       // the system pipedream, with our planner
  std::optional<TimedPlan> data_parallel;
  std::optional<TimedPlan> straight;
  std::optional<TimedPlan> hierarchical;
  std::optional<TimedPlan> dapple;
  std::optional<TimedPlan> all_but_one;
};

[[nodiscard]] Comparison compare_plans(const profile::Profile& profile,
                                       const cluster::Cluster& cluster);

// Returns the names of the plans that are better than the plan that should be best. Empty if there
// are none. These pairs are compared:
//  - each plan of a system with `speedy`. It is better if it is faster by more than a factor of
//    systems::kAsFast;
//  - the plans of exact systems with `best`. They are better if they are faster by more than a
//    factor of systems::kAsFast;
//  - `ours` with `best`. It is better if it is faster by more than staleness is worth
//    (systems::kWorthStaleness);
//  - the other plans of pipedream's form with `ours`. They are better if they are faster by more
//  than
//    2 %.
[[nodiscard]] std::vector<std::string> better_ones(const Comparison& comparison);

}  // namespace pipedream::bench
