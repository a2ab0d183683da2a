// The memory of a stage on one worker, in closed form (docs/planner.md#the-cost-model: memory).
#pragma once

#include <vector>

#include "core/units.h"
#include "cost/counts.h"
#include "profile/working.h"

namespace pipedream::cost {

// The sizes of one layer of a stage, for one minibatch.
struct LayerSize {
  Bytes weights;
  Bytes held;  // activations that the layer computes and that stay until the backward
  // Peak memory of its backward besides `held` and the gradients of its weights.
  profile::Working working;
  profile::Working forward_working{};  // peak memory of its forward, with what it keeps
  friend bool operator==(const LayerSize&, const LayerSize&) = default;
};

// The sizes of a stage, for one minibatch.
struct StageSize {
  Bytes weights;
  Bytes held;      // activations that its layers compute and that stay until the backward
  Bytes received;  // values that come from other stages
  Bytes working;   // the inputs and outputs of its largest layer, for their gradients
  // The stage's layers in the order of their forwards. Empty if the profile does not say how much
  // memory each layer works with.
  std::vector<LayerSize> layers{};
  friend bool operator==(const StageSize&, const StageSize&) = default;
};

// The memory of a stage on one worker at one moment, by kind.
struct MemoryUse {
  // All weight versions. With parameter servers, also the share that the worker serves and the
  // copies of that share.
  Bytes weights;
  Bytes gradients;    // of the weights
  Bytes optimiser;    // optimiser state
  Bytes activations;  // held or received values of all items in flight
  Bytes buffers;      // room for two items that are received ahead
  Bytes working;      // temporary memory of the layer that runs
  [[nodiscard]] Bytes total() const {
    return weights + gradients + optimiser + activations + buffers + working;
  }
};

// What the memory of a stage depends on besides its sizes and counts.
struct MemoryRule {
  int optimiser_copies = 1;  // optimiser state per weight: 0 plain SGD, 1 momentum, 2 Adam
  double share = 1;          // the part of a minibatch that one item is on this worker
  bool recompute = false;    // the stage keeps only what it received and runs its forward again
};

// Returns the memory of the stage on one worker at the peak. If `size.layers` is known, it follows
// one backward from the last layer to the first, and takes the moment with the most memory:
//
//     layers    a  b  c  d     while c runs backward
//     held      ■  ■  ■  □     the activations of d are already free
//     gradients □  □  ■  ■     the weights of a and b have no gradients yet
//
// If a backward accumulates, the gradients of all layers exist, and those of c exist twice for a
// moment. A forward is followed from the first layer to the last in the same way: while c runs, the
// item holds what a and b kept. There are no gradients then, unless gradients of an earlier item
// wait to be added to. If `size.layers` is empty, everything counts as if it existed at once.
[[nodiscard]] MemoryUse stage_memory(const StageSize& size, const PeakCounts& counts,
                                     const MemoryRule& rule);

// Returns the memory that the stage keeps while its worker runs another of the worker's stages.
[[nodiscard]] MemoryUse resting_memory(const StageSize& size, const PeakCounts& counts,
                                       const MemoryRule& rule);

}  // namespace pipedream::cost
