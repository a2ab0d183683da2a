// The type of the numbers that a network computes with (docs/gpu.md, Precision).
#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pipedream::model {

// kBfloat16 is libtorch's autocast: matrix products and convolutions are computed in bfloat16, and
// operations that need more precision in float. Weights, their gradients and their updates stay
// float. Images and the weights of convolutions are channels last in memory, the layout that
// hardware for bfloat16 products is fastest with.
enum class Precision { kFloat, kBfloat16 };

// The precision called "fp32" or "bf16". Throws BadUsage for any other name.
[[nodiscard]] Precision precision_named(const std::string& name);
[[nodiscard]] std::string to_text(Precision precision);

// While this lives, the calling thread computes in `precision` on devices of the kind `device`.
// kFloat changes nothing.
class ComputeIn {
 public:
  ComputeIn(Precision precision, at::DeviceType device);
  ~ComputeIn();
  ComputeIn(const ComputeIn&) = delete;
  ComputeIn& operator=(const ComputeIn&) = delete;

 private:
  bool changes_;
  at::DeviceType device_;
  // The thread's settings of autocast before, which the destructor restores.
  bool was_enabled_ = false;
  bool kept_casts_ = true;
  at::ScalarType type_before_ = at::kFloat;
};

// Returns `tensor` in the memory layout of `precision`: with kBfloat16, tensors of four dimensions
// (images, weights of convolutions) are channels last. All others come back unchanged.
[[nodiscard]] at::Tensor laid_out(const at::Tensor& tensor, Precision precision);
// Changes the memory layout of `weights` in place, as laid_out() does for one tensor.
void lay_out(const std::vector<at::Tensor>& weights, Precision precision);

}  // namespace pipedream::model
