#include "model/device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "core/error.h"

namespace pipedream::model {
namespace {

int cuda_devices() {
  return at::globalContext().hasCUDA() ? at::detail::getCUDAHooks().deviceCount() : 0;
}

}  // namespace

at::Device device_named(const std::string& name) {
  try {
    const at::Device device(name);
    if (device.is_cpu() || device.is_cuda()) return device;
  } catch (const c10::Error&) {  // reported by the throw below
  }
  throw BadUsage("there is no device '" + name + "': wanted cpu, cuda, or one like cuda:0");
}

void require_device(at::Device device) {
  if (device.is_cpu()) return;
  if (!device.is_cuda()) throw CannotMeet("there is no support for the device " + device.str());
  const int count = cuda_devices();
  const int wanted = device.has_index() ? device.index() : 0;
  if (wanted >= count)
    throw CannotMeet("device " + device.str() + " was asked for, and " + std::to_string(count) +
                     " CUDA devices were found: use `device` cpu, or one that exists");
}

at::Device device_of_worker(at::Device asked, int place) {
  require_device(asked);
  if (asked.is_cpu() || asked.has_index()) return asked;
  return {asked.type(), static_cast<c10::DeviceIndex>(place % cuda_devices())};
}

int gpus_of(at::Device asked) {
  if (asked.is_cpu()) return 0;
  return asked.has_index() ? 1 : cuda_devices();
}

void choose_fast_convolutions(at::Device device) {
  if (device.is_cuda() && !at::globalContext().deterministicAlgorithms())
    at::globalContext().setBenchmarkCuDNN(true);
}

std::optional<Bytes> memory_of_worker(at::Device asked, int workers) {
  if (asked.is_cpu()) return std::nullopt;
  const at::Device device = device_of_worker(asked, 0);
  const int shared_by = (workers - 1) / gpus_of(asked) + 1;
  at::globalContext().lazyInitDevice(device.type());
  const auto [free, total] = at::getDeviceAllocator(device.type())->getMemoryInfo(device.index());
  return Bytes{static_cast<std::int64_t>(total) / shared_by};
}

std::optional<c10::Stream> new_stream(at::Device device) {
  if (device.is_cpu()) return std::nullopt;
  return c10::impl::VirtualGuardImpl(device.type())
      .getStreamFromGlobalPool(device, /*isHighPriority=*/false);
}

c10::Stream current_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace pipedream::model
