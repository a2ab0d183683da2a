// The memory that a stage takes on one worker, in closed form (docs/planner.md).
#pragma once

#include <vector>

#include "core/units.h"
#include "cost/counts.h"
#include "profile/working.h"

namespace pipedream::cost {

// One layer of a stage, per minibatch.
struct LayerSize {
  Bytes weights;
  Bytes held;                          // kept from forward to backward on its account
  profile::Working working;            // allocated besides, while its backward runs
  profile::Working forward_working{};  // all that its forward allocates
  friend bool operator==(const LayerSize&, const LayerSize&) = default;
};

// What a stage is made of, per minibatch.
struct StageSize {
  Bytes weights;
  Bytes held;      // kept from forward to backward on account of its own layers
  Bytes received;  // values that come from other stages
  Bytes working;   // the inputs and outputs of its largest layer: their gradients in a backward
  // In the order of their forwards; empty where it is not known what they work with.
  std::vector<LayerSize> layers{};
  friend bool operator==(const StageSize&, const StageSize&) = default;
};

// What there is of each kind at the moment when all of it is most.
struct MemoryUse {
  Bytes weights;  // all versions, what is served of them, and the copies to answer with
  Bytes gradients;
  Bytes optimiser;
  Bytes activations;
  Bytes buffers;  // two items received ahead
  Bytes working;
  [[nodiscard]] Bytes total() const {
    return weights + gradients + optimiser + activations + buffers + working;
  }
};

struct MemoryRule {
  int optimiser_copies = 1;  // of the weights: 0 plain SGD, 1 momentum, 2 Adam
  double share = 1;          // of a minibatch that one item is on this worker
  bool recompute = false;    // keep only what was received, and run the forward again
};

// The peak on one worker of the stage. Where its layers are known, a backward is followed from the
// last to the first:
//
//     layers   a  b  c  d        c runs backward: the item holds what a, b and c kept, d's is free
//     held     ■  ■  ■  □        again; there are gradients of the weights of c and d, or, where
//     gradient □  □  ■  ■        an item adds to another's, of all, and c's twice meanwhile
//
// and so is a forward, from the first to the last: when c runs, the item holds what a and b kept;
// there are no gradients, or, where an item's may wait for another's, those of all. Else all is
// counted as if it were there at once.
[[nodiscard]] MemoryUse stage_memory(const StageSize& size, const PeakCounts& counts,
                                     const MemoryRule& rule);

// What the stage keeps while its worker runs another of its stages.
[[nodiscard]] MemoryUse resting_memory(const StageSize& size, const PeakCounts& counts,
                                       const MemoryRule& rule);

}  // namespace pipedream::cost
