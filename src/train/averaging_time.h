// What averaging gradients takes of a processor.
#pragma once

#include <vector>

#include "core/units.h"

namespace pipedream::train {

struct AveragingOf {
  std::vector<Bytes> gradients;  // of each layer
  int replicas = 2;              // at least two
  int threads = 1;               // for operations of libtorch
  // With the summing itself, which has a thread of its own and takes no time from one that computes
  // as long as there are cores for both.
  bool with_sums = true;
};

// How much longer a worker's processor is busy when so many workers of this machine average
// gradients by a ring than when each keeps its own: it collects those of each layer in memory that
// stays, while others are in new memory until the update, and sums them. Waiting for others does
// not count. The median of some rounds; at least 0.
[[nodiscard]] Nanos averaging_time(const AveragingOf& what);

}  // namespace pipedream::train
