// Lanes between NVIDIA GPUs: NCCL's communicators, each on a stream of its own. A build without
// NCCL has all of this too; there make_nccl_lanes() throws CannotMeet.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "transport/lanes.h"

namespace pipedream::transport {

struct NcclOptions {
  int device = 0;  // CUDA's number of this worker's GPU in this process
  // Memory of that GPU. Nothing that was given to a stream before may still use it.
  std::function<DeviceMemory(std::size_t bytes)> allocate;
};

// Whether this build has NCCL.
[[nodiscard]] bool has_nccl();

// Of no two workers may the GPU be the same. Nothing is asked of CUDA before the first lane is
// opened; what fails then or later is thrown as WorkerLost, with NCCL's or CUDA's text.
//
// NCCL moves bytes by kernels that wait on the GPU for those of the other members. What makes CUDA
// wait for all of a GPU's work meanwhile (freeing memory, say) holds up both ends; so both are
// begun close together: a send when its bytes are ready, its receive when the note of that comes.
[[nodiscard]] std::unique_ptr<Lanes> make_nccl_lanes(const NcclOptions& options);

}  // namespace pipedream::transport
