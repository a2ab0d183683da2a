// The clock of a run, which all its workers share. Times in a timeline are on this clock
// (docs/runtime.md: Measuring).
#pragma once

#include <chrono>

#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// Tells the time since the run began.
struct Clock {
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  [[nodiscard]] Nanos at(std::chrono::steady_clock::time_point time) const {
    return std::chrono::duration_cast<Nanos>(time - began);
  }
  [[nodiscard]] Nanos now() const { return at(std::chrono::steady_clock::now()); }
};

// Returns worker 0's clock, expressed in this process's steady clock. Steady clocks of different
// machines differ, so the other workers ask worker 0 for its time a few times and use the quickest
// round trip. All workers must call this at the same point of their runs. Throws WorkerLost if a
// worker does not answer within kPatienceAtStart (tags.h).
[[nodiscard]] Clock agreed_clock(transport::Transport& control);

}  // namespace pipedream::runtime
