// Computes from the events of a run how busy the workers were, why they stood idle, and how many
// minibatches were completed per second (docs/simulator.md#idle-time-has-four-causes). Takes events
// one by one, in memory that does not grow with the length of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/schedule.h"
#include "timeline/stage_rate.h"
#include "timeline/timeline.h"

namespace pipedream::timeline {

// Idle time by cause. The four causes add up to the whole idle time exactly.
struct Idle {
  // The pipeline fills (before the worker's first backward) or drains (after its last forward).
  // With flushes, it fills and drains around each update.
  Nanos fill_drain{0};
  Nanos imbalance{0};  // the worker has less to compute than the busiest worker
  Nanos transfer{0};   // the data that the worker waited for was being transferred
  Nanos wait{0};       // the worker waited for the data set or for a worker that was not done yet
  [[nodiscard]] Nanos total() const { return fill_drain + imbalance + transfer + wait; }
  Idle& operator+=(const Idle& other);
  friend bool operator==(const Idle&, const Idle&) = default;
};

struct WorkerAccount {
  WorkerId worker;
  Nanos busy{0};       // all compute and updates, including recomputation
  Nanos recompute{0};  // part of `busy` that was recomputation
  Idle idle;           // `busy` + `idle.total()` is the length of the run
};

struct Summary {
  // The longest time from one compute op of a worker to its next, or from the beginning of the run
  // to its first.
  Nanos longest_gap{0};
  Nanos length{0};                     // from the beginning to the end of the last compute op
  std::vector<WorkerAccount> workers;  // workers with compute ops, ascending
  Idle idle;                           // sum over all workers
  Nanos busy{0};                       // sum over all workers
  Nanos recompute{0};                  // sum over all workers
  // Time that workers waited for the data set, summed over all workers. `idle` has it under `wait`,
  // or under `imbalance` for a worker with less to compute than the busiest.
  Nanos reading{0};
  // Minibatches completed after warm-up, up to the last full round before the pipeline drains. If
  // there is no such round, or if it ends together with warm-up, rounds up to the first that ends
  // later count instead. 0 if the run is too short. Minibatches are counted at the stage that ends
  // last: the first stage, unless that depends on less than all stages. With
  // `AccountRule::one_by_one`, the sum of the minibatches measured on each worker.
  std::int64_t measured_minibatches = 0;
  // The time in which `measured_minibatches` were completed. With `AccountRule::one_by_one`, the
  // time that they would take at the sum of the workers' rates.
  Nanos measured_time{0};

  // Returns the busy share of all workers' time, or 0 for an empty run.
  [[nodiscard]] double utilisation() const;
  // Returns `measured_minibatches` per `measured_time`, or 0 if nothing was measured.
  [[nodiscard]] double minibatches_per_second() const;
  // Returns what it costs to drain the pipeline once and to fill it again: the time by which this
  // run of `minibatches` is longer than they would take at minibatches_per_second(). nullopt if
  // nothing was measured.
  [[nodiscard]] std::optional<Seconds> drain(std::int64_t minibatches) const;
};

// What an Account must know about the schedule before the first event.
struct AccountRule {
  bool flushes = false;  // every update waits until nothing is in flight (schedule::Rules)
  // By stage, the first stage first. Stages that are not listed are not measured. Rates are
  // measured between full rounds.
  std::vector<Turns> stages = std::vector<Turns>(1);
  std::int64_t warm_up = 0;  // minibatches at the beginning that are not measured
  // For asynchronous data parallelism, where workers never wait for each other. Each worker's rate
  // is measured by itself, until the first worker has completed its last minibatch, and the rates
  // are added up. Of the `warm_up` minibatches, each worker has the same number. A worker that by
  // then has completed no minibatch after its warm-up is measured by its first one. If it never
  // completes one, it is measured from the beginning of the run.
  bool one_by_one = false;
  schedule::Extent extent{};  // says how many minibatches there are, and which item ends each
};

// Owned and used by one thread.
class Account {
 public:
  explicit Account(const AccountRule& rule);

  // Adds an event. Events on one worker's compute lane must come in the order of time; events of
  // different workers need not. Events that are not on a compute lane are ignored.
  void add(const Event& event);
  // Returns the summary of the run. Requires that all its events were added.
  [[nodiscard]] Summary finish() const;

 private:
  struct Worker {
    Nanos free{0};  // the end of the worker's last op
    Nanos busy{0};
    Nanos recompute{0};
    Nanos fill_drain{0};
    Nanos transfer{0};
    Nanos wait{0};
    // Idle time after the last forward. It becomes `wait` if another forward follows, else
    // `fill_drain`.
    Nanos since_forward{0};
    bool seen_backward = false;  // in this run, or with flushes since the last update
    // Only for `AccountRule::one_by_one`:
    std::int64_t completed = 0;  // minibatches counted so far, including warm-up
    Nanos warm{0};               // end of the last warm-up minibatch
    Nanos ended{0};              // end of the last minibatch in `completed`
  };
  void account_gap(Worker& worker, const Event& event);
  void complete(Worker& worker, const schedule::Backward& backward, Nanos end);
  void complete_alone(Worker& worker, std::int64_t minibatch, Nanos end);
  void measure_stage(Summary& summary) const;
  void measure_workers(Summary& summary) const;

  AccountRule rule_;
  std::vector<Worker> workers_;
  std::vector<bool> known_;  // by worker: whether any event was added
  Nanos last_{0};            // latest end of an event
  Nanos longest_gap_{0};
  std::vector<StageRate> rates_;  // by stage
  bool first_ended_ = false;      // with `one_by_one`: a worker has completed its last minibatch
  Nanos measured_end_{0};         // with `one_by_one`: when it did
  Nanos reading_{0};
};

}  // namespace pipedream::timeline
