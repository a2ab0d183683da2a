// The way between a worker's device and the host's memory.
#pragma once

#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "model/device.h"
#include "model/mark.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// Copies run beside compute, on a stream each way, from and to page-locked memory, and nobody waits
// for them who does not say so. On CPU nothing is copied that need not be. Owned by one worker and
// used by its thread; autograd may call in from another while that thread waits for it.
class HostCopies {
 public:
  explicit HostCopies(at::Device device);

  [[nodiscard]] at::Device device() const { return device_; }

  // What is on the host once `made` has come.
  struct Copy {
    at::Tensor tensor;
    std::shared_ptr<const model::Mark> made;  // null: it is there

    [[nodiscard]] bool is_there() const { return !made || made->has_come(); }
    [[nodiscard]] const at::Tensor& wait() const;
    [[nodiscard]] transport::Readiness readiness() const;
  };
  [[nodiscard]] Copy to_host(const at::Tensor& tensor) const;

  // The same on the device, for what the calling thread's stream does from now on.
  [[nodiscard]] at::Tensor to_device(const at::Tensor& tensor) const;

 private:
  at::Device device_;
  std::optional<c10::Stream> out_;
  std::optional<c10::Stream> in_;
};

}  // namespace pipedream::runtime
