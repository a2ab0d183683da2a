#include "runtime/tensor_message.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include "core/check.h"
#include "model/memory_meter.h"
#include "runtime/failure.h"

namespace pipedream::runtime {
namespace {

// The owner of a message in device memory. to_tensor() casts the message's owner back to it.
struct Held {
  at::Tensor tensor;
  model::Mark made;  // when the content is complete
};

// Indices into a message's header. The sizes of the tensor's dimensions begin at kShape.
enum Word : std::size_t { kType, kLayout, kShape };

bool is_channels_last(const at::Tensor& tensor) {
  return !tensor.is_contiguous() && tensor.is_contiguous(at::MemoryFormat::ChannelsLast);
}

transport::Message described(const at::Tensor& tensor) {
  transport::Message message;
  message.header = {static_cast<std::int64_t>(tensor.scalar_type()), is_channels_last(tensor)};
  for (const std::int64_t side : tensor.sizes()) message.header.push_back(side);
  message.bytes = {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
  return message;
}

// Stops counting the tensor's memory as this worker's, unless something else on this worker, such
// as autograd, holds it too.
void give_away(const at::Tensor& tensor) {
  if (tensor.storage().use_count() == 1) model::MemoryMeter::give_away(tensor.storage().data());
}

// Makes the calling thread's stream wait until the content of a message in device memory is
// complete. Returns the device.
at::Device hold_back_until_made(const transport::Message& message) {
  const auto* held = static_cast<const Held*>(message.owner.get());
  const at::Device device = held->tensor.device();
  held->made.hold_back();
  // Keeps the memory from being reused before this thread's stream is done with it.
  held->tensor.record_stream(model::current_stream(device));
  return device;
}

}  // namespace

transport::Message to_message(const at::Tensor& tensor) {
  at::Tensor dense = is_channels_last(tensor) ? tensor : tensor.contiguous();
  // Device memory that came with a message does not belong to libtorch's allocator here, so
  // record_stream() could not keep it for the receiver's stream. It is copied before it is passed
  // on.
  if (!dense.is_cpu() && dense.storage().allocator() == nullptr) dense = dense.clone();
  give_away(dense);
  transport::Message message = described(dense);
  if (dense.is_cpu()) {
    message.owner = std::make_shared<const at::Tensor>(std::move(dense));
    return message;
  }
  const auto held = std::make_shared<const Held>(dense, model::Mark(dense.device()));
  message.is_ready = [held] { return held->made.has_come(); };
  message.owner = held;
  message.on_device = true;
  return message;
}

transport::Message to_message(const HostCopies::Copy& copy) {
  transport::Message message = to_message(copy.tensor);
  message.is_ready = copy.readiness();
  return message;
}

at::Tensor to_tensor(const transport::Message& message) {
  PD_CHECK(message.header.size() >= kShape);
  const auto type = static_cast<at::ScalarType>(message.header[kType]);
  at::Device device(at::kCPU);
  if (message.on_device)
    device = hold_back_until_made(message);
  else
    transport::wait_until(message.is_ready);
  const at::IntArrayRef shape(message.header.data() + kShape, message.header.size() - kShape);
  const at::DimVector strides = message.header[kLayout] != 0
                                    ? at::DimVector(c10::get_channels_last_strides_2d(shape))
                                    : c10::contiguous_strides(shape);
  // from_blob wants mutable memory, but nobody writes to it: Layer::forward must not write to its
  // inputs.
  void* memory = const_cast<std::byte*>(message.bytes.data());
  auto counted =
      model::MemoryMeter::take_over(static_cast<std::int64_t>(message.bytes.size()), device.type());
  return at::from_blob(
      memory, shape, strides, [owner = message.owner, counted = std::move(counted)](void*) {},
      at::TensorOptions().dtype(type).device(device), device);
}

std::function<transport::DeviceMemory(std::size_t)> memory_to_receive_into(at::Device device) {
  return [device, stream = model::new_stream(device)](std::size_t bytes) {
    const model::UseStream use(stream);
    at::Tensor tensor;
    try {
      tensor = at::empty({static_cast<std::int64_t>(bytes)},
                         at::TensorOptions().dtype(at::kByte).device(device));
    } catch (const c10::Error&) {
      // A transport passes on only the text of a failure, so the text has to say which kind it is.
      throw WorkerLost(to_reason(std::current_exception()));
    }
    const auto held = std::make_shared<const Held>(tensor, model::Mark(device));
    return transport::DeviceMemory{{static_cast<std::byte*>(tensor.data_ptr()), bytes}, held};
  };
}

}  // namespace pipedream::runtime
