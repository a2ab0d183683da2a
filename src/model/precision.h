// In which numbers a network computes.
#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pipedream::model {

// kBfloat16: products and convolutions in bfloat16, what needs more in float (libtorch's autocast);
// weights, their gradients and their updates stay float. Images and convolutions then lie channels
// last, as the units for such products want them.
enum class Precision { kFloat, kBfloat16 };

// "fp32" or "bf16". Throws BadUsage for anything else.
[[nodiscard]] Precision precision_named(const std::string& name);
[[nodiscard]] std::string to_text(Precision precision);

// What the calling thread computes on that kind of device as long as this lives.
class ComputeIn {
 public:
  ComputeIn(Precision precision, at::DeviceType device);
  ~ComputeIn();
  ComputeIn(const ComputeIn&) = delete;
  ComputeIn& operator=(const ComputeIn&) = delete;

 private:
  bool changes_;
  at::DeviceType device_;
  bool was_enabled_ = false;
  bool kept_casts_ = true;
  at::ScalarType type_before_ = at::kFloat;
};

// An image or the weights of a convolution (four dimensions) as that precision wants it to lie in
// memory; anything else as it is.
[[nodiscard]] at::Tensor laid_out(const at::Tensor& tensor, Precision precision);
// The same for weights, where they are.
void lay_out(const std::vector<at::Tensor>& weights, Precision precision);

}  // namespace pipedream::model
