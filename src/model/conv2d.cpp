#include "model/conv2d.h"

#include <algorithm>
#include <array>
#include <optional>

#include <ATen/ops/_slow_conv2d_backward.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

namespace pipedream::model {
namespace {

#if defined(__aarch64__)
constexpr bool kOneDnnBackwardIsSlow = true;
#else
constexpr bool kOneDnnBackwardIsSlow = false;
#endif

// The matrix products need each input patch copied out into a column; this bounds those copies.
constexpr std::int64_t kMostColumnBytes = 64 << 20;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::int64_t samples_per_slice(const at::Tensor& grad, const at::Tensor& weight) {
  const std::int64_t patch = weight.size(1) * weight.size(2) * weight.size(3);
  const std::int64_t per_sample = patch * grad.size(2) * grad.size(3) * grad.element_size();
  return std::clamp<std::int64_t>(kMostColumnBytes / std::max<std::int64_t>(1, per_sample), 1,
                                  grad.size(0));
}

struct MatrixProductBackward : torch::autograd::Function<MatrixProductBackward> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                            std::int64_t stride, std::int64_t padding) {
    context->save_for_backward({input, weight});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["bias"] = bias.has_value();
    return at::conv2d(input, weight, bias, {stride, stride}, {padding, padding});
  }

  // Slices of the batch in ascending order; their weight gradients are summed in that order.
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& input = saved[0];
    const at::Tensor& weight = saved[1];
    const at::Tensor grad = gradients[0].contiguous();
    const std::int64_t stride = context->saved_data["stride"].toInt();
    const std::int64_t padding = context->saved_data["padding"].toInt();
    const bool needs_input = context->needs_input_grad(0);
    const std::array<bool, 3> wanted{needs_input, context->needs_input_grad(1),
                                     context->saved_data["bias"].toBool()};
    at::Tensor grad_input = needs_input ? at::empty_like(input) : at::Tensor();
    at::Tensor grad_weight;
    at::Tensor grad_bias;
    const std::int64_t step = samples_per_slice(grad, weight);
    for (std::int64_t begin = 0; begin < grad.size(0); begin += step) {
      const std::int64_t end = std::min(begin + step, grad.size(0));
      auto [to_input, to_weight, to_bias] = at::_slow_conv2d_backward(
          grad.slice(0, begin, end), input.slice(0, begin, end), weight, weight.sizes().slice(2),
          {stride, stride}, {padding, padding}, wanted);
      if (needs_input) grad_input.slice(0, begin, end).copy_(to_input);
      if (wanted[1]) grad_weight = begin == 0 ? to_weight : grad_weight.add_(to_weight);
      if (wanted[2]) grad_bias = begin == 0 ? to_bias : grad_bias.add_(to_bias);
    }
    return {grad_input, grad_weight, grad_bias, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                    std::int64_t stride, std::int64_t padding) {
  if (kOneDnnBackwardIsSlow && input.is_cpu() && input.scalar_type() == at::kFloat)
    return MatrixProductBackward::apply(
        input, weight, bias.defined() ? std::optional(bias) : std::nullopt, stride, padding);
  return at::conv2d(input, weight, bias, {stride, stride}, {padding, padding});
}

}  // namespace pipedream::model
