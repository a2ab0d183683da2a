// Asynchronous copies between a worker's device and host memory (docs/gpu.md).
#pragma once

#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "model/device.h"
#include "model/mark.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// Copies run beside compute, on one stream per direction, from and to pinned memory. No call waits
// for a copy unless its comment says so. For a worker on the CPU, nothing is copied. Owned by one
// worker and used from its thread; autograd may call in from another thread while the worker's
// thread waits for autograd.
class HostCopies {
 public:
  explicit HostCopies(at::Device device);

  [[nodiscard]] at::Device device() const { return device_; }

  // A tensor in host memory whose content may still be on its way from the device.
  struct Copy {
    at::Tensor tensor;                        // must not be read before the copy is done
    std::shared_ptr<const model::Mark> made;  // when the copy is done; null if it is done already

    [[nodiscard]] bool is_there() const { return !made || made->has_come(); }
    // Waits until the copy is done and returns `tensor`.
    [[nodiscard]] const at::Tensor& wait() const;
    // is_there() as a function, for messages.
    [[nodiscard]] transport::Readiness readiness() const;
  };
  // Starts a copy to pinned memory. A tensor that is in host memory already is returned itself.
  [[nodiscard]] Copy to_host(const at::Tensor& tensor) const;

  // A copy of `tensor` on the worker's device, or `tensor` itself if it is there already. Work that
  // the calling thread queues on its stream from now on finds the content complete.
  [[nodiscard]] at::Tensor to_device(const at::Tensor& tensor) const;

 private:
  at::Device device_;
  std::optional<c10::Stream> out_;  // for copies to the host; none on CPU
  std::optional<c10::Stream> in_;   // for copies to the device; none on CPU
};

}  // namespace pipedream::runtime
