// Keeps workers from running too far ahead of each other when they run several segments without
// waiting for each other, as in an evaluation (docs/runtime.md: Epochs), and lets them meet.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "transport/transport.h"

namespace pipedream::runtime {

// In an evaluation no gradients come back to the first stage, so nothing would stop it from running
// ahead without limit. With a Pace, no worker begins segment n before all workers have ended
// segment n − 2: at most two segments are under way at once. Owned by one worker and used from its
// thread; `control` outlives it.
class Pace {
 public:
  Pace(transport::Transport& control, std::chrono::milliseconds patience)
      : control_(control), patience_(patience) {}

  // Every worker calls next() between two segments, and finish() after the last one. Both throw
  // WorkerLost if another worker keeps this one waiting for longer than `patience`.
  void next();
  void finish();

 private:
  void tell(WorkerId other);
  void hear(WorkerId other);
  // Waits for one message from each other worker.
  void hear_all();

  transport::Transport& control_;
  std::chrono::milliseconds patience_;
  bool first_ = true;  // whether next() has not been called yet
};

// Returns, at worker 0, the workers that called it with `has` false; at others an empty list. All
// workers must call it. Throws WorkerLost after `patience`.
[[nodiscard]] std::vector<WorkerId> those_without(transport::Transport& control, bool has,
                                                  std::chrono::milliseconds patience);

// Returns when all `members` have called it, which the calling worker is one of. Throws WorkerLost
// if one of them keeps this worker waiting for longer than `patience`.
void meet(transport::Transport& control, std::span<const WorkerId> members,
          std::chrono::milliseconds patience);
// The same for all workers.
void meet(transport::Transport& control, std::chrono::milliseconds patience);

}  // namespace pipedream::runtime
