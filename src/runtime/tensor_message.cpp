#include "runtime/tensor_message.h"

#include <ATen/ops/from_blob.h>

#include "core/check.h"
#include "model/memory_meter.h"

namespace pipedream::runtime {

transport::Message to_message(const at::Tensor& tensor) {
  PD_CHECK(tensor.device().is_cpu());
  auto held = std::make_shared<const at::Tensor>(tensor.contiguous());
  // On the way, and then the receiver's; unless autograd keeps it here too.
  if (held->storage().use_count() == 1) model::MemoryMeter::give_away(held->storage().data());
  transport::Message message;
  message.header.push_back(static_cast<std::int64_t>(held->scalar_type()));
  for (const std::int64_t side : held->sizes()) message.header.push_back(side);
  message.bytes = {static_cast<const std::byte*>(held->const_data_ptr()), held->nbytes()};
  message.owner = std::move(held);
  return message;
}

at::Tensor to_tensor(const transport::Message& message) {
  PD_CHECK(!message.header.empty());
  const auto type = static_cast<at::ScalarType>(message.header[0]);
  const at::IntArrayRef shape(message.header.data() + 1, message.header.size() - 1);
  // from_blob wants mutable memory; nobody writes to a received value (Layer::forward's promise).
  void* memory = const_cast<std::byte*>(message.bytes.data());
  auto counted = model::MemoryMeter::take_over(static_cast<std::int64_t>(message.bytes.size()));
  return at::from_blob(
      memory, shape, [owner = message.owner, counted = std::move(counted)](void*) {},
      at::TensorOptions().dtype(type));
}

}  // namespace pipedream::runtime
