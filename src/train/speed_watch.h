// Notices workers that become slower than the others while a training runs, or faster again
// (docs/runtime.md#a-slow-worker).
#pragma once

#include <string>
#include <vector>

#include "core/ids.h"
#include "core/units.h"
#include "train/slow_cause.h"

namespace pipedream::train {

// A worker whose time for a minibatch differs from the plan's by more than the others' do.
struct OddWorker {
  WorkerId worker;
  double ratio = 1;   // its time of compute for a minibatch, over the time that the plan says
  double others = 1;  // the same of the other workers, as a median
};

struct OddWorkers {
  Seconds lasted{0};             // the time of training that the figures are of
  std::vector<OddWorker> found;  // in the order of the workers
  // By worker, OddWorker::ratio. Workers that are not in `found` have the median of theirs.
  std::vector<double> ratios;
};

// Returns a line for the user: "worker 2 on h1 (stage 2) computed for 2.02 × as long as planned in
// the last 60 s, the others for 1.01 ×".
[[nodiscard]] std::string to_text(const OddWorker& odd, const OddWorkers& all,
                                  const Expectation& expected);

// Looks again and again at what the workers report. A worker is odd
//  - if it takes 15 % longer than planned, and 15 % longer than the median of the others does;
//  - if it takes 15 % less than planned and than the others, and the plan takes its device to be
//    slower than another one.
// Used by one thread.
class SpeedWatch {
 public:
  // Workers that are odd for `patience`, of training, are told of. `expected` must outlive this.
  SpeedWatch(const Expectation& expected, Nanos patience);

  // A stretch of training begins.
  void begin(Nanos now) { seen_ = now; }
  // Takes what the workers did lately. To be called about once a second while the training runs.
  // Returns the odd workers if one of them was not told of before. A worker that was told of and is
  // odd no more is told of again when it becomes odd again.
  [[nodiscard]] std::optional<OddWorkers> look(const Speeds& measured, Nanos now);

 private:
  struct Watched {
    Nanos odd_for{0};
    double sum = 0;  // of the ratio, over the seconds of `odd_for`
    bool told = false;
  };
  [[nodiscard]] bool is_odd(const std::vector<double>& ratios, std::size_t worker) const;
  [[nodiscard]] OddWorkers odd_workers(const std::vector<double>& ratios) const;

  const Expectation& expected_;
  Nanos patience_;
  Nanos seen_{0};
  std::vector<Watched> watched_;  // by worker
};

}  // namespace pipedream::train
