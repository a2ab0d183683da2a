// Simulates what a schedule would do on a cluster, without running it: a discrete-event simulation
// (docs/simulator.md). Pure: the same arguments give the same result.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cluster/cluster.h"
#include "core/straggler.h"
#include "cost/links.h"
#include "plan/plan.h"
#include "profile/profile.h"
#include "schedule/counts.h"
#include "schedule/schedule.h"
#include "timeline/timeline.h"

namespace pipedream::simulate {

struct Conditions {
  cost::Exchange exchange = cost::Exchange::kRing;  // how replicas average their gradients
  std::vector<Straggler> stragglers;
  bool loading = true;  // reading data takes the time in the profile; false: it takes none
  // The time of every forward, recomputation and backward is multiplied by a random factor between
  // 1 − jitter and 1 + jitter.
  double jitter = 0;
  std::uint64_t seed = 0;  // seed of the jitter's random factors
};

// The bytes that passed over one link of the cluster in the whole run (cost::Links).
struct LinkTraffic {
  std::size_t level = 0;  // level of the link, counted from the innermost
  std::size_t link = 0;   // number of the link within its level
  double out = 0;         // bytes that its worker or component sent
  double in = 0;          // bytes that its worker or component received
};

// What the stages of one worker keep when one of them begins a backward, or the weight part of a
// split backward.
struct Moment {
  std::size_t running_stage = 0;  // index into `stages` of the stage that begins the backward
  bool accumulates = false;       // the backward adds to gradients that earlier items have left
  std::vector<schedule::Counts> stages;  // counts of each stage of the worker, ascending by stage
  friend bool operator==(const Moment&, const Moment&) = default;
};

// The most that a worker kept in the whole run.
struct WorkerPeaks {
  WorkerId worker;
  std::vector<std::pair<StageId, schedule::Counts>> stages;  // the peak of each count, by stage
  // Only for a worker with several stages, which have their peaks at different times: every
  // different moment of the run, once.
  std::vector<Moment> moments;
};

struct Result {
  std::vector<LinkTraffic> links;  // all links that carried anything
  double bytes = 0;                // bytes that all workers sent
  std::vector<WorkerPeaks> peaks;  // in the order of the programs
  std::int64_t ops = 0;            // ops that were run, including loads, sends and receives
};

// Receives the events of a simulation. An empty function is not called.
struct Sink {
  // Called with the events on compute lanes (timeline::on_compute_lane). Those of one worker come
  // in the order of its program.
  std::function<void(const timeline::Event&)> compute;
  // Called with all other events, each once its end is known. They are not sorted by time.
  std::function<void(const timeline::Event&)> other;
};

// Runs the schedule in simulated time and passes its events to `sink`.
//  - A worker runs its compute ops in order. Each op waits for the values that it takes.
//  - Sends never block a worker. Messages from one worker to the same other worker go one after the
//    other. Transfers that move at the same time share the links max–min fairly (fair_links.h). A
//    value arrives one latency after its last byte was sent.
//  - Replicas average their gradients bucket by bucket (cost/buckets.h), while the backward that
//    releases the buckets still runs. A bucket starts when the slowest replica has released it. It
//    is one flow over all links that the exchange pattern uses. In a ring of two levels it is two
//    flows, one after the other.
//  - A worker reads its data up to two items ahead, in parallel with everything else.
//  - Updates take no time of their own: the profile's update time is part of the backwards.
// Requires a schedule that is valid for the plan (schedule/validate.h), and a cluster that has all
// workers of the plan. Throws CannotMeet if the simulated run takes longer than 30 years.
Result simulate(const schedule::Schedule& schedule, const plan::Plan& plan,
                const profile::Profile& profile, const cluster::Cluster& cluster,
                const Conditions& conditions, const Sink& sink);

// Simulates the schedule and returns all its events, for pictures and tests. Compute events of one
// worker are in the order of its program.
[[nodiscard]] timeline::Timeline timeline_of(const schedule::Schedule& schedule,
                                             const plan::Plan& plan,
                                             const profile::Profile& profile,
                                             const cluster::Cluster& cluster,
                                             const Conditions& conditions = {});

}  // namespace pipedream::simulate
