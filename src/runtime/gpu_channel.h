// Decides whether NCCL carries values and gradients between the GPUs of different processes
// (docs/gpu.md: What runs where).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "transport/lanes.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// What one worker has that NCCL needs.
struct NcclOffer {
  at::Device device;
  int host = 0;  // a number of its machine; workers with equal numbers are on the same machine
  bool has_nccl = false;  // whether the worker's build has NCCL
};

// Returns why NCCL cannot connect these workers, or an empty text if it can: every worker must have
// NCCL and a GPU of its own. Device numbers are local to a process, so two workers of one machine
// with equal device numbers are taken to share a GPU.
[[nodiscard]] std::string why_not_nccl(const std::vector<NcclOffer>& by_worker);

// Whether NCCL is used. All workers must call this at the same point, each with its own offer;
// worker 0 decides, and all get its answer. If there are several workers and any has a GPU, worker
// 0 logs which way values and gradients go. Throws WorkerLost if a worker does not answer within
// kPatienceAtStart (tags.h).
[[nodiscard]] bool agree_on_nccl(transport::Transport& control, const NcclOffer& mine);

// The NCCL lanes of a worker on the GPU `mine`. Values and sums each need lanes of their own.
[[nodiscard]] std::unique_ptr<transport::Lanes> nccl_lanes(at::Device mine);

}  // namespace pipedream::runtime
