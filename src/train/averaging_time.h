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
// gradients by a ring than when each keeps its own. Gradients that are averaged are copied into one
// buffer that stays, and summed; those that are not stay in the new memory that the backward wrote.
// Waiting for others does not count. The median of some rounds; at least 0.
[[nodiscard]] Nanos averaging_time(const AveragingOf& what);

// What is measured of gradients: the first 256 MiB. The rest would take as long again, and memory
// besides.
struct PartOfGradients {
  std::vector<Bytes> gradients;  // of each layer
  double times = 0;              // how many times as large all are; 0 where there is none
};
[[nodiscard]] PartOfGradients part_to_measure(const std::vector<Bytes>& gradients);

}  // namespace pipedream::train
