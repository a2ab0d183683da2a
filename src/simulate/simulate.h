// What a schedule would do on a cluster, without running it: a pure function of its arguments, by
// discrete events (docs/simulator.md).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cluster/cluster.h"
#include "cost/links.h"
#include "plan/plan.h"
#include "profile/profile.h"
#include "schedule/counts.h"
#include "schedule/schedule.h"
#include "timeline/timeline.h"

namespace pipedream::simulate {

// A worker whose device is slower, or faster, than the cluster file says.
struct Straggler {
  WorkerId worker;
  double speed = 1;  // times its device's
};

struct Conditions {
  cost::Exchange exchange = cost::Exchange::kRing;
  std::vector<Straggler> stragglers;
  bool loading = true;     // reading the data set takes the time that the profile says
  double jitter = 0;       // every op takes between 1 − jitter and 1 + jitter times its time
  std::uint64_t seed = 0;  // of the jitter
};

// What passed over a link in the whole run.
struct LinkTraffic {
  std::size_t level = 0;
  std::size_t link = 0;
  double out = 0;  // bytes
  double in = 0;
};

// What a worker's stages keep as one of them begins a backward, or the part of it that makes the
// weights' gradients.
struct Moment {
  std::size_t runs = 0;                  // that one's place among them
  bool accumulates = false;              // it finds gradients to add to
  std::vector<schedule::Counts> stages;  // in their order
  friend bool operator==(const Moment&, const Moment&) = default;
};

struct WorkerPeaks {
  WorkerId worker;
  std::vector<std::pair<StageId, schedule::Counts>> stages;
  // Of a worker with several stages, whose peaks are not at the same time: all that differ.
  std::vector<Moment> moments;
};

struct Result {
  std::vector<LinkTraffic> links;  // those that carried anything
  double bytes = 0;                // that left any worker
  std::vector<WorkerPeaks> peaks;  // in the order of the programs
  std::int64_t ops = 0;            // of the complete programs: each of them is one event
};

// Who wants to know of events: those on the workers' compute lanes, each worker's in the order of
// its program, and all others, when they end. Empty functions are not called.
struct Sink {
  std::function<void(const timeline::Event&)> compute;
  std::function<void(const timeline::Event&)> other;
};

// Runs the schedule in simulated time and tells `sink` what happens.
//  - A worker runs its compute ops in order; each waits for the values it takes.
//  - Sends never hold the worker up. Those between the same two workers go one after another; all
//    others share the links fairly (fair_links.h). A value arrives a latency after its last byte.
//  - Averaging goes bucket by bucket (cost/buckets.h) as the backward before it releases them, as
//    one flow over all links that the pattern uses; it begins when the last member is ready.
//  - Data is read ahead, up to two items, beside everything else.
//  - Updates take no time.
// Requires a schedule that validates against the plan, and a cluster that has its workers.
Result simulate(const schedule::Schedule& schedule, const plan::Plan& plan,
                const profile::Profile& profile, const cluster::Cluster& cluster,
                const Conditions& conditions, const Sink& sink);

// All events, for pictures and tests; workers in the order of the programs.
[[nodiscard]] timeline::Timeline timeline_of(const schedule::Schedule& schedule,
                                             const plan::Plan& plan,
                                             const profile::Profile& profile,
                                             const cluster::Cluster& cluster,
                                             const Conditions& conditions = {});

}  // namespace pipedream::simulate
