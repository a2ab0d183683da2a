// Measures how much processor time averaging gradients over replicas costs (docs/planner.md, the
// cost model).
#pragma once

#include <vector>

#include "core/units.h"

namespace pipedream::train {

struct AveragingOf {
  std::vector<Bytes> gradients;  // size of each layer's gradients
  int replicas = 2;              // workers that average with each other; at least two
  int threads = 1;               // libtorch's threads per worker
  bool bind_cores = false;       // whether workers get cores of their own (docs/runtime.md: Cores)
  // Whether the all-reduce itself counts, besides copying gradients into buckets. Training runs the
  // all-reduce on its own thread, so it slows computation down only if all cores compute.
  bool with_sums = true;
};

// Returns the additional processor time per worker when `what.replicas` workers on this machine
// average their gradients by ring all-reduce, compared with a worker without replicas. Averaged
// gradients that are not large are copied into one buffer, which is used again for each update, and
// are summed there. All others stay in the new memory that the backward wrote, and are summed there
// (BucketSizes::alone). The time spent waiting for other workers does not count. The result is the
// median of several rounds, and at least 0.
[[nodiscard]] Nanos averaging_time(const AveragingOf& what);

// The part of all gradients that is measured: the first 256 MiB. Measuring all gradients of a large
// network would take more time and memory.
struct PartOfGradients {
  std::vector<Bytes> gradients;  // measured bytes of each layer's gradients
  double times = 0;              // size of all gradients / size of this part; 0 if all are empty
};
// Returns the part of `gradients` (one size per layer) that averaging_time() measures.
[[nodiscard]] PartOfGradients part_to_measure(const std::vector<Bytes>& gradients);

}  // namespace pipedream::train
