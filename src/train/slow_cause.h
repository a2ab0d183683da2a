// Why a training is slower than its plan says: one worker that computes more slowly than the
// others, or transfers that hold the workers up (docs/runtime.md#measuring).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "plan/plan.h"
#include "systems/simulation.h"

namespace pipedream::train {

// What one worker did in some stretch of time.
struct WorkerSpeed {
  double seconds = 0;          // the length of the time
  double busy = 0;             // seconds in which it computed
  double transfer = 0;         // seconds in which it stood idle while data was in transit to it
  std::vector<double> sent{};  // bytes, by the worker that they went to
};

struct Speeds {
  double samples_per_second = 0;  // of all workers together
  std::vector<WorkerSpeed> workers;
};

// What the plan promises.
struct Expectation {
  double samples_per_second = 0;
  // By worker, per sample that all workers together train: seconds of compute, and the most seconds
  // that it may have to wait for transfers.
  std::vector<double> busy;
  std::vector<double> transfer;
  std::vector<std::string> workers;  // their names: "worker 5 on h1 (stage 2)"
  // The hosts of the workers. Empty if all are on one machine: links then join workers.
  std::vector<std::string> hosts;
  cluster::Cluster cluster;
};

// What a simulation of `plan` promises. `batch`: samples of a minibatch. Returns nullopt if nothing
// was measured in the simulation.
[[nodiscard]] std::optional<Expectation> expectation(const plan::Plan& plan,
                                                     const systems::Simulated& simulated,
                                                     std::int64_t batch,
                                                     const cluster::Cluster& cluster,
                                                     std::vector<std::string> hosts);

// Returns by worker for how many times as long as planned it computes for a minibatch; 1 for a
// worker that the plan gives nothing to do. Empty if not enough was measured to tell. Pure.
[[nodiscard]] std::vector<double> compute_ratios(const Speeds& measured,
                                                 const Expectation& expected);

// Returns what makes the training slower than expected, for example "slowest: worker 5 on h1 (stage
// 2), 1.40 × its plan's time per minibatch" or "busiest link: h0 → h1, 95.0 % of 1 Gbit/s". nullopt
// if it is at most 10 % slower, or if neither a worker nor the transfers account for half of the
// time that is lost. Pure.
[[nodiscard]] std::optional<std::string> slow_cause(const Speeds& measured,
                                                    const Expectation& expected);

}  // namespace pipedream::train
