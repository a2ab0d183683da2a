// What follows from a timeline: how busy the workers were, why they were not, how fast minibatches
// came. Works on events as they come, in memory that does not grow with the run.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.h"
#include "timeline/timeline.h"

namespace pipedream::timeline {

// Where a worker's idle time comes from. The parts add up to it exactly.
struct Idle {
  Nanos fill_drain{0};  // the pipeline fills or drains: before the first backward of a worker, and
                        // after its last forward, of the run or of each flush
  Nanos imbalance{0};   // it has less to do than the busiest worker
  Nanos transfer{0};    // what it waited for was on its way
  Nanos wait{0};        // for the data set, or for another worker that was not done in time
  [[nodiscard]] Nanos total() const { return fill_drain + imbalance + transfer + wait; }
  Idle& operator+=(const Idle& other);
  friend bool operator==(const Idle&, const Idle&) = default;
};

struct WorkerAccount {
  WorkerId worker;
  Nanos busy{0};       // all compute, recomputation included
  Nanos recompute{0};  // of that
  Idle idle;           // busy + idle = the run's length
};

struct Summary {
  Nanos length{0};
  std::vector<WorkerAccount> workers;  // ascending
  Idle idle;                           // of all workers together
  Nanos busy{0};
  Nanos recompute{0};
  Nanos reading{0};  // of idle.wait: for the data set
  // Between the end of warm-up and the last full round before the pipeline drains (where nothing
  // lies between, the first round after that ended later): minibatches, and the time they took.
  // Zero minibatches where the run is too short for anything. Where workers' rates are measured one
  // by one: those minibatches of all, and how long they would take at the sum of the rates.
  std::int64_t measured_minibatches = 0;
  Nanos measured_time{0};

  // 1 − idle/total; 0 for an empty run.
  [[nodiscard]] double utilisation() const;
  [[nodiscard]] double minibatches_per_second() const;
};

// What an account must know of the schedule beforehand.
struct AccountRule {
  bool flushes = false;
  // Minibatches come in rounds of as many as the first stage has replicas that take turns; rates
  // are taken between full rounds.
  std::int64_t round = 1;
  std::int64_t warm_up = 0;  // minibatches that count for nothing
  // Nobody waits for anybody: each worker's rate is measured by itself, until the first has no
  // minibatch left, and they are added up. A worker that has none measured by then counts with the
  // first after its part of warm-up, or, where there is none, from the beginning.
  bool one_by_one = false;
  int parts = 1;              // backwards of stage 0 per item: replicas that share it
  schedule::Extent extent{};  // to know a minibatch's last item
};

class Account {
 public:
  explicit Account(const AccountRule& rule) : rule_(rule) {}

  // Each worker's compute lane in order; other events are passed over.
  void add(const Event& event);
  // Requires that all events were added.
  [[nodiscard]] Summary finish() const;

 private:
  struct Worker {
    Nanos free{0};  // the end of its last compute
    Nanos busy{0};
    Nanos recompute{0};
    Nanos fill_drain{0};
    Nanos transfer{0};
    Nanos wait{0};
    Nanos since_forward{0};  // idle since the last forward: steady if another follows, else drain
    bool seen_backward = false;
    // Where nobody waits for anybody: the minibatches of its own that count, and their time.
    std::int64_t completed = 0;
    Nanos warm{0};
    Nanos ended{0};
  };
  void account_gap(Worker& worker, const Event& event);
  void complete(Worker& worker, const schedule::Backward& backward, Nanos end);
  void complete_alone(Worker& worker, std::int64_t minibatch, Nanos end);
  void measure_rates(Summary& summary) const;

  AccountRule rule_;
  std::vector<Worker> workers_;
  std::vector<bool> known_;
  Nanos last_{0};
  std::int64_t completed_ = 0;  // minibatches × parts
  Nanos latest_{0};  // end of any minibatch so far: workers are not told of in the order of time
  Nanos warm_{0};
  std::int64_t measured_ = 0;
  bool first_ended_ = false;
  bool draining_ = false;  // the first stage has begun its last round
  Nanos reading_{0};
  Nanos measured_end_{0};
};

}  // namespace pipedream::timeline
