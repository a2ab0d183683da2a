// The devices that networks run on: the CPU, and GPUs where libtorch knows them. No header of CUDA
// is needed: libtorch's device-independent half does all that is done here.
#pragma once

#include <optional>
#include <string>

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

#include "core/units.h"

namespace pipedream::model {

// "cpu", "cuda:1", or "cuda" for any of them. Throws BadUsage for anything else.
[[nodiscard]] at::Device device_named(const std::string& name);

// Throws CannotMeet where there is no such device.
void require_device(at::Device device);

// Where worker number `place` of its machine works when `asked` was asked for: workers take the
// machine's devices in turn where no index was named. Throws CannotMeet as require_device.
[[nodiscard]] at::Device device_of_worker(at::Device asked, int place);

// How many GPUs of this machine that names.
[[nodiscard]] int gpus_of(at::Device asked);

// Lets libtorch try which of a GPU's algorithms for convolutions is fastest, for the whole process.
void prepare(at::Device device);

// What one of `workers` workers on such devices of this machine has of their memory: an even share
// of one. None for the CPU, whose memory is the machine's.
[[nodiscard]] std::optional<Bytes> memory_of_worker(at::Device asked, int workers);

// A stream of work beside those given out before (libtorch has 32 of them, and then begins again);
// none on CPU.
[[nodiscard]] std::optional<c10::Stream> new_stream(at::Device device);

// Where what the calling thread gives that device goes.
[[nodiscard]] c10::Stream current_stream(at::Device device);

// What the calling thread gives the device goes to that stream as long as this lives; nothing
// changes without one.
class UseStream {
 public:
  explicit UseStream(const std::optional<c10::Stream>& stream) {
    if (stream) guard_.emplace(*stream);
  }

 private:
  std::optional<c10::StreamGuard> guard_;
};

}  // namespace pipedream::model
