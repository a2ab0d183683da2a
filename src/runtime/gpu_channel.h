// How values and gradients get from the GPU of one process to that of another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "transport/lanes.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// What one worker has for NCCL to use.
struct NcclOffer {
  at::Device device;
  int host = 0;  // its machine, in any numbers
  bool has_nccl = false;
};

// Why NCCL cannot join these workers; empty where it can: all have NCCL and a GPU, and no two the
// same one. As numbers of devices are a process's own, workers of one host whose numbers are equal
// count as on one GPU.
[[nodiscard]] std::string why_not_nccl(const std::vector<NcclOffer>& by_worker);

// All workers call it, each with what it has; worker 0 decides for all whether NCCL joins them. It
// logs which way values and gradients go where there are several workers and a GPU among them.
[[nodiscard]] bool agree_on_nccl(transport::Transport& control, const NcclOffer& mine);

// Lanes of a worker on that GPU, for values or for sums.
[[nodiscard]] std::unique_ptr<transport::Lanes> nccl_lanes(at::Device mine);

}  // namespace pipedream::runtime
