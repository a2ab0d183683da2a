#include "model/precision.h"

#include <ATen/autocast_mode.h>

#include "core/error.h"

namespace pipedream::model {

Precision precision_named(const std::string& name) {
  if (name == "fp32") return Precision::kFloat;
  if (name == "bf16") return Precision::kBfloat16;
  throw BadUsage("there is no precision '" + name + "': wanted fp32 or bf16");
}

std::string to_text(Precision precision) {
  return precision == Precision::kBfloat16 ? "bf16" : "fp32";
}

Autocast::Autocast(at::DeviceType device, bool on, std::optional<at::ScalarType> type)
    : device_(device),
      was_on_(at::autocast::is_autocast_enabled(device)),
      kept_casts_(at::autocast::is_autocast_cache_enabled()),
      type_before_(at::autocast::get_autocast_dtype(device)) {
  at::autocast::set_autocast_dtype(device, type.value_or(type_before_));
  at::autocast::set_autocast_enabled(device, on);
  // libtorch's cache of weights cast to bfloat16 is one for all threads of the process. Another
  // worker could clear it, so chance would decide whether a weight that is used twice is cast once
  // or twice.
  at::autocast::set_autocast_cache_enabled(false);
}

Autocast::~Autocast() {
  at::autocast::set_autocast_cache_enabled(kept_casts_);
  at::autocast::set_autocast_enabled(device_, was_on_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

ComputeIn::ComputeIn(Precision precision, at::DeviceType device) {
  if (precision == Precision::kBfloat16) autocast_.emplace(device, true, at::kBFloat16);
}

at::Tensor laid_out(const at::Tensor& tensor, Precision precision) {
  if (precision != Precision::kBfloat16 || tensor.dim() != 4) return tensor;
  return tensor.contiguous(at::MemoryFormat::ChannelsLast);
}

void lay_out(const std::vector<at::Tensor>& weights, Precision precision) {
  for (at::Tensor weight : weights) weight.set_data(laid_out(weight.detach(), precision));
}

}  // namespace pipedream::model
