// The time of a run, the same on all its workers.
#pragma once

#include <chrono>

#include "core/units.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// Counts from the moment that the run began.
struct Clock {
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  [[nodiscard]] Nanos at(std::chrono::steady_clock::time_point time) const {
    return std::chrono::duration_cast<Nanos>(time - began);
  }
  [[nodiscard]] Nanos now() const { return at(std::chrono::steady_clock::now()); }
};

// A clock that all workers of the channel have in common though each has a steady clock of its own:
// worker 0's, found from the quickest of a few round trips to it. Called by all workers at once.
[[nodiscard]] Clock agreed_clock(transport::Transport& control);

}  // namespace pipedream::runtime
