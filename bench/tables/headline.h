// The PipeDream paper's headline results (Table 1) next to what the simulator says from the
// authors' own profiles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "profile/profile.h"

namespace pipedream::bench {

// What the paper measured; nothing where it says nothing about that model and cluster.
struct PublishedResult {
  std::string model;    // a profile's name
  std::string cluster;  // an example's name
  std::optional<std::string> plan;
  std::optional<double> speedup;  // over data parallelism
};

[[nodiscard]] const std::vector<PublishedResult>& published_results();

// A pipedream plan, simulated.
struct HeadlineRun {
  std::string config;
  double speedup = 0;  // over data parallelism, simulated as well
  double saved = 0;    // share of the bytes that data parallelism moves
};

struct Headline {
  PublishedResult published;
  double data_parallel = 0;          // minibatches per second
  HeadlineRun ours;                  // our planner's
  std::optional<HeadlineRun> paper;  // the paper's kind of plan: 15-1, straight, or data parallel
  // The part of their bandwidth that data parallelism would have to get out of the links for the
  // paper's plan, at full speed, to be as much faster as the paper says.
  std::optional<double> bandwidth_share;
};

// Reading data is left out: the profiles were taken with one slow reader. Requires that pipedream
// and data parallelism fit the memory.
[[nodiscard]] Headline headline(const PublishedResult& published, const profile::Profile& profile,
                                const cluster::Cluster& cluster);

// Whether ours differs from the paper's measured speed-up by more than a quarter.
[[nodiscard]] bool differs(const Headline& headline);

}  // namespace pipedream::bench
