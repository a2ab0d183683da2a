#include "runtime/host_copies.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace pipedream::runtime {
namespace {

using model::Mark;
using model::UseStream;

transport::Readiness readiness_of(std::shared_ptr<const Mark> mark) {
  if (!mark) return {};
  return [mark = std::move(mark)] { return mark->has_come(); };
}

}  // namespace

HostCopies::HostCopies(at::Device device)
    : device_(device), out_(model::new_stream(device)), in_(model::new_stream(device)) {}

const at::Tensor& HostCopies::Copy::wait() const {
  if (made) made->wait();
  return tensor;
}

transport::Readiness HostCopies::Copy::readiness() const { return readiness_of(made); }

at::Tensor HostCopies::host_floats(std::int64_t count) const {
  return at::empty({count}, at::TensorOptions().pinned_memory(!device_.is_cpu()));
}

HostCopies::Copy HostCopies::to_host(const at::Tensor& tensor) const {
  if (tensor.is_cpu()) return {tensor, nullptr};
  // A message is read as it lies (tensor_message.h), so other layouts are straightened here: later
  // there would be memory to copy that is not written yet.
  const at::Tensor dense =
      tensor.is_contiguous(at::MemoryFormat::ChannelsLast) ? tensor : tensor.contiguous();
  const at::Tensor copy =
      at::empty_strided(dense.sizes(), dense.strides(),
                        at::TensorOptions().dtype(dense.scalar_type()).pinned_memory(true));
  to_host(dense, copy);
  const UseStream use(out_);
  return {copy, std::make_shared<const Mark>(device_)};
}

void HostCopies::to_host(const at::Tensor& tensor, const at::Tensor& into) const {
  at::Tensor target = into;
  if (tensor.is_cpu()) {
    target.copy_(tensor);
    return;
  }
  const Mark computed(device_);
  const UseStream use(out_);
  computed.hold_back();
  target.copy_(tensor, /*non_blocking=*/true);
  tensor.record_stream(*out_);  // its memory is not used again before
}

transport::Readiness HostCopies::readiness() const {
  if (!out_) return {};
  const UseStream use(out_);
  return readiness_of(std::make_shared<const Mark>(device_));
}

at::Tensor HostCopies::to_device(const at::Tensor& tensor) const {
  if (tensor.device() == device_ || device_.is_cpu()) return tensor;
  at::Tensor copy;
  std::optional<Mark> made;
  {
    const UseStream use(in_);
    // From another GPU libtorch copies directly.
    copy = (tensor.is_cpu() ? tensor.pin_memory() : tensor).to(device_, /*non_blocking=*/true);
    made.emplace(device_);
  }
  made->hold_back();
  copy.record_stream(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
  return copy;
}

}  // namespace pipedream::runtime
