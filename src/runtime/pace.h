// Keeps workers together that have nothing to wait for.
#pragma once

#include <chrono>

#include "transport/transport.h"

namespace pipedream::runtime {

// For work in several segments that all workers do, where the first stage would run away: in an
// evaluation nothing comes back to it. No worker begins a segment before all have ended the one
// before the last, so that at most two are under way.
class Pace {
 public:
  Pace(transport::Transport& control, std::chrono::milliseconds patience)
      : control_(control), patience_(patience) {}

  // After each segment; after the last, finish() instead. Throws WorkerLost after `patience`.
  void next();
  void finish();

 private:
  void tell(WorkerId other);
  void hear(WorkerId other);
  void hear_all();

  transport::Transport& control_;
  std::chrono::milliseconds patience_;
  bool first_ = true;
};

}  // namespace pipedream::runtime
