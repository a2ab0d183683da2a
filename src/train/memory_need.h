// Refuses work that would not fit into the machine's memory, before the kernel ends the process for
// it (CPU only: on GPUs the allocator says so).
#pragma once

#include "model/network.h"
#include "model/precision.h"
#include "plan/plan_file.h"

namespace pipedream::train {

// The memory that several copies of a network need while they train beside each other.
struct MemoryNeed {
  Bytes weights;      // of one copy: weights and optimiser state
  Bytes activations;  // of one copy: activations and gradients of a whole minibatch, at the peak
  int copies = 1;
  [[nodiscard]] Bytes total() const { return Bytes{copies * (weights.count + activations.count)}; }
};

// Estimates what a profile in `copies` copies needs. If weights alone do not fit into `available`,
// or if everything fits by far, only sizes that the network declares are added up. Otherwise one
// sample, and then two, are passed through the network, forward and backward, and their memory is
// scaled up. `optimiser_copies`: values of optimiser state per weight.
[[nodiscard]] MemoryNeed need_of_profile(const model::Network& network, model::Precision precision,
                                         int optimiser_copies, int copies, Bytes available);

// Throws CannotMeet, with the numbers and what helps, if a profile in `copies` copies will not fit
// into the memory that this machine, or its cgroup, has left.
void want_memory_for_profile(const model::Network& network, model::Precision precision,
                             int optimiser_copies, int copies);

// Returns, by worker, the memory of the copy that a worker makes of its part of the state for a
// checkpoint, and keeps until it is written. Replicas share the work, so each copies a part.
[[nodiscard]] std::vector<Bytes> checkpoint_copies(const plan::PlanFile& file,
                                                   int optimiser_copies);

// Throws CannotMeet if these `workers`, which share this machine, will need more memory than the
// machine has left, going by the plan's prediction. `copies`: checkpoint_copies(), or empty if
// there are no checkpoints.
void want_memory_for_training(const plan::PlanFile& file, const std::vector<WorkerId>& workers,
                              const std::vector<Bytes>& copies);

}  // namespace pipedream::train
