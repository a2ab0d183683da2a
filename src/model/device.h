// The devices that networks run on: the CPU, and GPUs that libtorch supports (docs/gpu.md). No CUDA
// header is needed: everything here goes through libtorch's device-independent interface.
#pragma once

#include <optional>
#include <string>

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

#include "core/units.h"

namespace pipedream::model {

// The device called "cpu", "cuda:1", or "cuda", which has no index and means any GPU. Throws
// BadUsage for any other name.
[[nodiscard]] at::Device device_named(const std::string& name);

// Throws CannotMeet if this machine does not have `device`.
void require_device(at::Device device);

// The device of worker number `place` of a machine when the user asked for `asked`. If `asked` has
// no index, workers take the machine's GPUs in turn. Throws CannotMeet as require_device() does.
[[nodiscard]] at::Device device_of_worker(at::Device asked, int place);

// The number of GPUs of this machine that `asked` names: 0 for the CPU, 1 with an index, else all.
[[nodiscard]] int gpus_of(at::Device asked);

// On a GPU, lets libtorch try out which algorithm is fastest for each convolution (cuDNN's
// benchmark mode), unless deterministic algorithms are on. Holds for the whole process.
void choose_fast_convolutions(at::Device device);

// The memory of a GPU per worker when `workers` workers of this machine run on `asked`: all of it,
// divided by the number of workers that share the GPU. None for the CPU, whose memory is the
// machine's. Throws CannotMeet as require_device() does.
[[nodiscard]] std::optional<Bytes> memory_of_worker(at::Device asked, int workers);

// A stream of `device` other than those returned before; none on CPU. libtorch has 32 streams, and
// returns the first again after the last.
[[nodiscard]] std::optional<c10::Stream> new_stream(at::Device device);

// The stream on which the calling thread queues its work for `device`.
[[nodiscard]] c10::Stream current_stream(at::Device device);

// While this lives, the calling thread queues its work for the stream's device on `stream`. Without
// a stream nothing changes.
class UseStream {
 public:
  explicit UseStream(const std::optional<c10::Stream>& stream) {
    if (stream) guard_.emplace(*stream);
  }

 private:
  std::optional<c10::StreamGuard> guard_;
};

}  // namespace pipedream::model
