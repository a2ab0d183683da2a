// Measures how fast one stage completes minibatches, for timeline::Account.
#pragma once

#include <cstdint>

#include "core/units.h"
#include "schedule/ops.h"

namespace pipedream::timeline {

// How the replicas of a stage divide the minibatches among each other.
struct Turns {
  // Minibatches between two points at which rates are measured: one for each replica, if they take
  // minibatches in turn, and as many such rounds as make an update.
  std::int64_t round = 1;
  int parts = 1;  // replicas that share each item
};

// Owned and used by one thread.
class StageRate {
 public:
  // The part of a run that is measured.
  struct Window {
    std::int64_t warm_up = 0;      // minibatches at the beginning that are not measured
    std::int64_t minibatches = 0;  // of the whole run
    bool drains = true;            // false: the end of the run is like the rest of it
  };
  StageRate(const Turns& turns, const Window& window) : turns_(turns), window_(window) {}

  // Notes that the stage begins a forward of `minibatch`.
  void begin(std::int64_t minibatch);
  // Notes that a replica has completed the last backward of a minibatch, or of its part of one.
  void complete(Nanos end);

  // Returns the latest end of a minibatch so far.
  [[nodiscard]] Nanos latest() const { return latest_; }
  // Returns the minibatches that were measured: Summary::measured_minibatches.
  [[nodiscard]] std::int64_t measured() const { return measured_; }
  // Returns the time in which they were completed.
  [[nodiscard]] Nanos time() const { return measured_end_ - warm_; }

 private:
  Turns turns_;
  Window window_;
  std::int64_t completed_ = 0;  // completed parts of minibatches; Turns::parts make a minibatch
  Nanos latest_{0};
  Nanos warm_{0};  // end of the warm-up
  std::int64_t measured_ = 0;
  Nanos measured_end_{0};
  bool draining_ = false;  // the stage has begun its last round
};

}  // namespace pipedream::timeline
