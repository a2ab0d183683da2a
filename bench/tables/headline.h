// Compares the PipeDream paper's headline results (Table 1) with what the simulator says from the
// authors' own profiles (docs/headline.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "profile/profile.h"

namespace pipedream::bench {

// What the paper measured. Fields are empty if the paper has no result for this model and cluster.
struct PublishedResult {
  std::string model;    // name of a profile of PipeDream's authors
  std::string cluster;  // name of an example cluster
  std::optional<std::string> plan;
  std::optional<double> speedup;  // over data parallelism
};

[[nodiscard]] const std::vector<PublishedResult>& published_results();

// The simulation of one plan.
struct HeadlineRun {
  std::string config;
  double speedup = 0;  // over data parallelism, which is simulated too
  double saved = 0;    // share of data parallelism's bytes that this plan does not send; at least 0
};

struct Headline {
  PublishedResult published;
  double data_parallel = 0;          // data parallelism's minibatches per second
  HeadlineRun ours;                  // the plan of our planner
  std::optional<HeadlineRun> paper;  // the paper's kind of plan: 15-1, straight, or data parallel
  // The share of the links' bandwidth that data parallelism would have to achieve to explain the
  // paper's speed-up, if the paper's plan runs as fast as simulated with the full bandwidth. Empty
  // if the paper has no speed-up above 1, or if no share from 0.01 to 10 explains it.
  std::optional<double> bandwidth_share;
};

// Loading data is not simulated, because the profiles were taken with one slow reader. Throws
// CannotMeet unless plans of pipedream and of data parallelism fit the memory.
[[nodiscard]] Headline headline(const PublishedResult& published, const profile::Profile& profile,
                                const cluster::Cluster& cluster);

// Whether the speed-up of our plan differs from the speed-up that the paper measured by more than a
// quarter.
[[nodiscard]] bool differs(const Headline& headline);

}  // namespace pipedream::bench
