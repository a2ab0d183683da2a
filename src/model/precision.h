// The type of the numbers that a network computes with (docs/gpu.md, Precision).
#pragma once

#include <optional>
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

// While this lives, libtorch's autocast of the calling thread is on or off for devices of the kind
// `device`. `type` is the type that it casts to; nullopt leaves that as it is. The destructor
// restores the thread's settings.
class Autocast {
 public:
  Autocast(at::DeviceType device, bool on, std::optional<at::ScalarType> type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool was_on_;
  bool kept_casts_;
  at::ScalarType type_before_;
};

// While this lives, the calling thread computes in `precision` on devices of the kind `device`.
// kFloat changes nothing.
class ComputeIn {
 public:
  ComputeIn(Precision precision, at::DeviceType device);

 private:
  std::optional<Autocast> autocast_;
};

// Returns `tensor` in the memory layout of `precision`: with kBfloat16, tensors of four dimensions
// (images, weights of convolutions) are channels last. All others come back unchanged.
[[nodiscard]] at::Tensor laid_out(const at::Tensor& tensor, Precision precision);
// Changes the memory layout of `weights` in place, as laid_out() does for one tensor.
void lay_out(const std::vector<at::Tensor>& weights, Precision precision);

}  // namespace pipedream::model
