// How values get from the GPU of one process to that of another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "transport/transport.h"

namespace pipedream::runtime {

// Why NCCL cannot join these workers; empty where it can: all have GPUs, and no two the same one.
// Devices and hosts are by worker; as numbers of devices are a process's own, workers of one host
// whose numbers are equal count as on one GPU.
[[nodiscard]] std::string why_not_nccl(const std::vector<at::Device>& devices,
                                       const std::vector<int>& hosts);

// The channel of a worker that is a process, or one over it that moves values from GPU to GPU by
// NCCL, where that can be; else they go by way of the host. Worker 0 logs which, where there are
// GPUs. Without devices all are on CPU.
[[nodiscard]] std::unique_ptr<transport::Transport> between_gpus(
    std::unique_ptr<transport::Transport> channel, const std::vector<at::Device>& devices,
    const std::vector<int>& hosts);

}  // namespace pipedream::runtime
