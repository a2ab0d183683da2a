// What averaging gradients takes of a processor.
#pragma once

#include "core/units.h"

namespace pipedream::train {

struct AveragingOf {
  Bytes gradients;
  int replicas = 2;  // at least two
  int threads = 1;   // for operations of libtorch
  // With the summing itself, which has a thread of its own and takes no time from one that computes
  // as long as there are cores for both.
  bool with_sums = true;
};

// How long a worker's processor is busy when so many workers of this machine average gradients by a
// ring: collects them, sums, and divides. Waiting for others does not count. The median of some
// rounds.
[[nodiscard]] Nanos averaging_time(const AveragingOf& what);

}  // namespace pipedream::train
