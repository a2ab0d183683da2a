#include "model/conv2d.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include <ATen/autocast_mode.h>
#include <ATen/ops/_slow_conv2d_backward.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/machine.h"

namespace pipedream::model {
namespace {

constexpr bool kOneDnnBackwardIsSlow = kIsArm64;

// The matrix products need a copy of each input patch as a row or column of a matrix. This bounds
// the size of that matrix.
constexpr std::int64_t kMostColumnBytes = 64 << 20;
// If the output of a sample has at most this many pixels, one matrix product computes many samples.
// libtorch computes one product per sample, which would read all weights for a few columns.
constexpr std::int64_t kFewPixels = 128;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The inputs of the backward of one convolution.
struct Convolution {
  at::Tensor input;   // N × C × height × width
  at::Tensor weight;  // out × C × kernel × kernel
  at::Tensor grad;    // N × out × rows × columns: gradient of the result
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::array<bool, 3> wanted{};  // whether to compute the gradients of input, weight, bias

  [[nodiscard]] Convolution slice(std::int64_t begin, std::int64_t end) const {
    return {input.slice(0, begin, end), weight, grad.slice(0, begin, end), stride, padding, wanted};
  }
  // Output pixels of one sample.
  [[nodiscard]] std::int64_t pixels() const { return grad.size(2) * grad.size(3); }
};
// The gradients of input, weight and bias. A gradient that is not wanted is undefined.
using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

std::int64_t samples_per_slice(const Convolution& of) {
  const std::int64_t patch = of.weight.size(1) * of.weight.size(2) * of.weight.size(3);
  const std::int64_t per_sample = patch * of.pixels() * of.grad.element_size();
  return std::clamp<std::int64_t>(kMostColumnBytes / std::max<std::int64_t>(1, per_sample), 1,
                                  of.grad.size(0));
}

Gradients one_product_per_sample(const Convolution& of) {
  return at::_slow_conv2d_backward(of.grad, of.input, of.weight, of.weight.sizes().slice(2),
                                   {of.stride, of.stride}, {of.padding, of.padding}, of.wanted);
}

// Computes each gradient, over many samples, with one matrix product. Channels are the innermost
// dimension, and the patches of all samples are the rows of one matrix.
class OneProduct {
 public:
  explicit OneProduct(const Convolution& of)
      : of_(of),
        kernel_(of.weight.size(2)),
        channels_(of.weight.size(1)),
        grads_(of.grad.permute({0, 2, 3, 1}).reshape({-1, of.grad.size(1)})) {}

  [[nodiscard]] at::Tensor of_weight() const {
    at::Tensor padded = padded_zeros();
    inner(padded).copy_(of_.input.permute({0, 2, 3, 1}));
    const at::Tensor patches = at::empty(
        {of_.grad.size(0), of_.grad.size(2), of_.grad.size(3), kernel_, kernel_, channels_},
        of_.input.options());
    for (std::int64_t i = 0; i < kernel_; ++i)
      for (std::int64_t j = 0; j < kernel_; ++j) tap(patches, i, j).copy_(shifted(padded, i, j));
    return at::mm(grads_.t(), patches.view({grads_.size(0), -1}))
        .view({-1, kernel_, kernel_, channels_})
        .permute({0, 3, 1, 2})
        .contiguous();
  }

  [[nodiscard]] at::Tensor of_input() const {
    const at::Tensor weight = of_.weight.permute({0, 2, 3, 1}).reshape({of_.weight.size(0), -1});
    const at::Tensor patches = at::mm(grads_, weight)
                                   .view({of_.grad.size(0), of_.grad.size(2), of_.grad.size(3),
                                          kernel_, kernel_, channels_});
    at::Tensor padded = padded_zeros();
    for (std::int64_t i = 0; i < kernel_; ++i)
      for (std::int64_t j = 0; j < kernel_; ++j) shifted(padded, i, j).add_(tap(patches, i, j));
    return inner(padded).permute({0, 3, 1, 2});
  }

  [[nodiscard]] at::Tensor of_bias() const { return grads_.sum(0); }

 private:
  [[nodiscard]] at::Tensor padded_zeros() const {
    return at::zeros({of_.input.size(0), of_.input.size(2) + 2 * of_.padding,
                      of_.input.size(3) + 2 * of_.padding, channels_},
                     of_.input.options());
  }
  [[nodiscard]] at::Tensor inner(const at::Tensor& padded) const {
    return padded.narrow(1, of_.padding, of_.input.size(2))
        .narrow(2, of_.padding, of_.input.size(3));
  }
  // The input pixels that the kernel's element (i, j) is multiplied with, one per output pixel.
  [[nodiscard]] at::Tensor shifted(const at::Tensor& padded, std::int64_t i, std::int64_t j) const {
    return padded.slice(1, i, i + (of_.grad.size(2) - 1) * of_.stride + 1, of_.stride)
        .slice(2, j, j + (of_.grad.size(3) - 1) * of_.stride + 1, of_.stride);
  }
  // The kernel's element (i, j) in all patches.
  static at::Tensor tap(const at::Tensor& patches, std::int64_t i, std::int64_t j) {
    return patches.select(3, i).select(3, j);
  }

  const Convolution& of_;
  std::int64_t kernel_;
  std::int64_t channels_;
  at::Tensor grads_;  // pixels of all samples × out
};

Gradients one_product(const Convolution& of) {
  const OneProduct product(of);
  const auto [input, weight, bias] = of.wanted;
  return {input ? product.of_input() : at::Tensor(), weight ? product.of_weight() : at::Tensor(),
          bias ? product.of_bias() : at::Tensor()};
}

// Computes the gradients slice by slice of the batch. The slices' weight and bias gradients are
// summed in ascending order of the slices.
Gradients gradients_of(const Convolution& of) {
  Gradients sum;
  auto& [grad_input, grad_weight, grad_bias] = sum;
  if (of.wanted[0]) grad_input = at::empty_like(of.input);
  const std::int64_t step = samples_per_slice(of);
  for (std::int64_t begin = 0; begin < of.grad.size(0); begin += step) {
    const std::int64_t end = std::min(begin + step, of.grad.size(0));
    const Convolution slice = of.slice(begin, end);
    auto [to_input, to_weight, to_bias] =
        of.pixels() <= kFewPixels ? one_product(slice) : one_product_per_sample(slice);
    if (of.wanted[0]) grad_input.slice(0, begin, end).copy_(to_input);
    if (of.wanted[1]) grad_weight = begin == 0 ? to_weight : grad_weight.add_(to_weight);
    if (of.wanted[2]) grad_bias = begin == 0 ? to_bias : grad_bias.add_(to_bias);
  }
  return sum;
}

// libtorch's convolution, with a backward by matrix products.
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

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto [input, weight, bias] =
        gradients_of({saved[0].contiguous(),  // an image may be channels last
                      saved[1].contiguous(),
                      gradients[0].contiguous(),
                      context->saved_data["stride"].toInt(),
                      context->saved_data["padding"].toInt(),
                      {context->needs_input_grad(0), context->needs_input_grad(1),
                       context->saved_data["bias"].toBool()}});
    return {input, weight, bias, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                    std::int64_t stride, std::int64_t padding) {
  if (kOneDnnBackwardIsSlow && input.is_cpu() && input.scalar_type() == at::kFloat &&
      !at::autocast::is_autocast_enabled(at::kCPU))
    return MatrixProductBackward::apply(
        input, weight, bias.defined() ? std::optional(bias) : std::nullopt, stride, padding);
  return at::conv2d(input, weight, bias, {stride, stride}, {padding, padding});
}

}  // namespace pipedream::model
