#include "runtime/host_copies.h"

#include <ATen/ops/empty_strided.h>

namespace pipedream::runtime {

using model::Mark;
using model::UseStream;

HostCopies::HostCopies(at::Device device)
    : device_(device), out_(model::new_stream(device)), in_(model::new_stream(device)) {}

const at::Tensor& HostCopies::Copy::wait() const {
  if (made) made->wait();
  return tensor;
}

transport::Readiness HostCopies::Copy::readiness() const {
  if (!made) return {};
  return [mark = made] { return mark->has_come(); };
}

HostCopies::Copy HostCopies::to_host(const at::Tensor& tensor) const {
  if (tensor.is_cpu()) return {tensor, nullptr};
  // to_message() (tensor_message.h) makes tensors contiguous unless they are channels last. That
  // must happen here, on the device: the host copy may not have its content yet when it is called.
  const at::Tensor dense =
      tensor.is_contiguous(at::MemoryFormat::ChannelsLast) ? tensor : tensor.contiguous();
  const at::Tensor copy =
      at::empty_strided(dense.sizes(), dense.strides(),
                        at::TensorOptions().dtype(dense.scalar_type()).pinned_memory(true));
  const Mark computed(device_);
  const UseStream use(out_);
  computed.hold_back();
  copy.copy_(dense, /*non_blocking=*/true);
  dense.record_stream(*out_);  // keeps its memory from being reused before the copy is done
  return {copy, std::make_shared<const Mark>(device_)};
}

at::Tensor HostCopies::to_device(const at::Tensor& tensor) const {
  if (tensor.device() == device_ || device_.is_cpu()) return tensor;
  at::Tensor copy;
  std::optional<Mark> made;
  {
    const UseStream use(in_);
    // If `tensor` is on another GPU, libtorch copies directly between the GPUs.
    copy = (tensor.is_cpu() ? tensor.pin_memory() : tensor).to(device_, /*non_blocking=*/true);
    made.emplace(device_);
  }
  made->hold_back();
  copy.record_stream(model::current_stream(device_));
  return copy;
}

}  // namespace pipedream::runtime
