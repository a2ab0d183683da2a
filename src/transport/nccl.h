// Lanes between NVIDIA GPUs: NCCL communicators, each with a stream of its own (docs/gpu.md). A
// build without NCCL declares the same; there make_nccl_lanes() throws CannotMeet.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "transport/lanes.h"

namespace pipedream::transport {

struct NcclOptions {
  int device = 0;  // CUDA's number of this worker's GPU in this process
  // Returns memory of the GPU `device`. No work that is on a stream already may still use it.
  std::function<DeviceMemory(std::size_t bytes)> allocate;
};

// Whether this build has NCCL.
[[nodiscard]] bool has_nccl();

// Returns the lanes of a worker. No two workers may use the same GPU. CUDA is not called before the
// first lane is opened. Later failures are thrown as WorkerLost, with NCCL's or CUDA's text.
//
// NCCL moves bytes by kernels that wait on the GPU for the kernels of the other members. A CUDA
// call that waits for all work of a GPU meanwhile (to free memory, say) holds up both ends. So both
// ends are begun close together: a send when its bytes are ready, and its receive when the note
// that announces it arrives (by_lanes.h).
[[nodiscard]] std::unique_ptr<Lanes> make_nccl_lanes(const NcclOptions& options);

}  // namespace pipedream::transport
