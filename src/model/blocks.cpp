#include "model/blocks.h"

#include <cmath>

#include <ATen/core/Reduction.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/alias.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <c10/util/accumulate.h>

#include "core/check.h"
#include "core/text.h"
#include "model/conv2d.h"
#include "model/lstm.h"
#include "model/padding.h"
#include "model/random.h"

namespace pipedream::model {
namespace {

using Types = std::span<const TensorType>;

std::string text(std::int64_t number) { return std::to_string(number); }

std::int64_t pooled(std::int64_t side, std::int64_t kernel, std::int64_t stride,
                    std::int64_t padding) {
  return (side + 2 * padding - kernel) / stride + 1;
}

// Adaptive average pooling to `side` × `side`. On a GPU libtorch's gradient of it is not
// deterministic. So deterministic operations compute the same where they can: where `side` divides
// height and width, and where the image is a single pixel.
at::Tensor pooled_to(const at::Tensor& x, std::int64_t side) {
  const std::int64_t height = x.size(2);
  const std::int64_t width = x.size(3);
  if (height == side && width == side) return at::alias(x);
  if (height == 1 && width == 1) return x.expand({x.size(0), x.size(1), side, side});
  if (height % side == 0 && width % side == 0)
    return at::avg_pool2d(x, {height / side, width / side});
  return at::adaptive_avg_pool2d(x, {side, side});
}

TensorType with_last_dimension(TensorType type, std::int64_t last) {
  type.shape.back() = last;
  return type;
}

}  // namespace

TensorType same_as_first(std::span<const TensorType> inputs) { return inputs[0]; }

Init default_init(std::int64_t fan_in) {
  return {Init::Kind::kUniform, 1 / std::sqrt(static_cast<float>(fan_in))};
}

Init he_normal(std::int64_t fan_out) {
  return {Init::Kind::kNormal, std::sqrt(2 / static_cast<float>(fan_out))};
}

Block conv2d(const Conv& conv) {
  const std::int64_t area = conv.kernel * conv.kernel;
  Block block;
  block.kind = "Conv2d(" + text(conv.in) + ", " + text(conv.out) + ", kernel " + text(conv.kernel) +
               ", stride " + text(conv.stride) + ", padding " + text(conv.padding) + ")";
  block.parameters.push_back(
      {"weight",
       {conv.out, conv.in, conv.kernel, conv.kernel},
       conv.he_init ? he_normal(conv.out * area) : default_init(conv.in * area)});
  if (conv.bias)
    block.parameters.push_back(
        {"bias", {conv.out}, conv.he_init ? Init{} : default_init(conv.in * area)});
  block.infer = [conv](Types inputs) {
    const Shape& in = inputs[0].shape;
    const auto side = [&](std::int64_t of) {
      return pooled(of, conv.kernel, conv.stride, conv.padding);
    };
    return TensorType{{in[0], conv.out, side(in[2]), side(in[3])}, inputs[0].type};
  };
  block.forward = [conv](const Tensors& in, const Weights& w, const Pass&) {
    return convolve(in[0], w.parameters[0], conv.bias ? w.parameters[1] : at::Tensor(), conv.stride,
                    conv.padding);
  };
  return block;
}

Block linear(std::int64_t in, std::int64_t out) {
  return linear(in, out, default_init(in), default_init(in));
}

Block linear(std::int64_t in, std::int64_t out, Init weight, Init bias) {
  return {
      .kind = "Linear(" + text(in) + ", " + text(out) + ")",
      .parameters = {{"weight", {out, in}, weight}, {"bias", {out}, bias}},
      .infer = [out](Types inputs) { return with_last_dimension(inputs[0], out); },
      .forward = [](const Tensors& x, const Weights& w,
                    const Pass&) { return at::linear(x[0], w.parameters[0], w.parameters[1]); }};
}

Block linear_without_bias(std::int64_t in, std::int64_t out, Init weight) {
  Block block = linear(in, out, weight, {});
  block.parameters.pop_back();
  block.forward = [](const Tensors& x, const Weights& w, const Pass&) {
    return at::linear(x[0], w.parameters[0]);
  };
  return block;
}

Block tied_linear(std::int64_t in, std::int64_t out, Init bias) {
  Block block = linear(in, out, {}, bias);
  block.inputs.emplace_back("weight");
  block.parameters.erase(block.parameters.begin());
  block.forward = [](const Tensors& x, const Weights& w, const Pass&) {
    return at::linear(x[0], x[1], w.parameters[0]);
  };
  return block;
}

bool has_variance(const at::Tensor& x) { return x.numel() > x.size(1); }

Block batch_norm2d(std::int64_t channels) {
  constexpr double kMomentum = 0.1;
  constexpr double kEpsilon = 1e-5;
  const Init one{Init::Kind::kConstant, 1};
  return {.kind = "BatchNorm2d(" + text(channels) + ")",
          .parameters = {{"weight", {channels}, one}, {"bias", {channels}, {}}},
          .buffers = {{"running_mean", {channels}, {}},
                      {"running_var", {channels}, one},
                      {"num_batches_tracked", {}, {}, at::kLong}},
          .infer = same_as_first,
          .forward = [](const Tensors& x, const Weights& w, const Pass& pass) {
            // In training mode at::batch_norm normalises with the batch's own mean and variance.
            // Called without running averages, it updates none.
            const bool updates = pass.training && pass.update_statistics && has_variance(x[0]);
            const bool averages = !pass.training || updates;
            if (updates) w.buffers[2].add_(1);
            return at::batch_norm(x[0], w.parameters[0], w.parameters[1],
                                  averages ? w.buffers[0] : at::Tensor(),
                                  averages ? w.buffers[1] : at::Tensor(), pass.training, kMomentum,
                                  kEpsilon, /*cudnn_enabled=*/true);
          }};
}

Block layer_norm(std::int64_t width) {
  return {.kind = "LayerNorm(" + text(width) + ")",
          .parameters = {{"weight", {width}, {Init::Kind::kConstant, 1}}, {"bias", {width}, {}}},
          .infer = same_as_first,
          .forward = [width](const Tensors& x, const Weights& w, const Pass&) {
            return at::layer_norm(x[0], {width}, w.parameters[0], w.parameters[1]);
          }};
}

Block embedding(std::int64_t words, std::int64_t width, Init weight) {
  return {.kind = "Embedding(" + text(words) + ", " + text(width) + ")",
          .parameters = {{"weight", {words, width}, weight}},
          .infer =
              [width](Types inputs) {
                Shape shape = inputs[0].shape;
                shape.push_back(width);
                return TensorType{shape, at::kFloat};
              },
          .forward = [](const Tensors& x, const Weights& w,
                        const Pass&) { return at::embedding(w.parameters[0], x[0]); }};
}

Block lstm(std::int64_t in, std::int64_t hidden, bool bidirectional, float bound) {
  const Init init{Init::Kind::kUniform, bound};
  Block block;
  block.kind = std::string(bidirectional ? "Bidirectional" : "") + "LSTM(" + text(in) + ", " +
               text(hidden) + ")";
  for (const char* direction : {"", "_reverse"}) {
    if (*direction != '\0' && !bidirectional) break;
    const std::string end = std::string("_l0") + direction;
    block.parameters.push_back({"weight_ih" + end, {4 * hidden, in}, init});
    block.parameters.push_back({"weight_hh" + end, {4 * hidden, hidden}, init});
    block.parameters.push_back({"bias_ih" + end, {4 * hidden}, init});
    block.parameters.push_back({"bias_hh" + end, {4 * hidden}, init});
  }
  const std::int64_t directions = bidirectional ? 2 : 1;
  block.infer = [=](Types inputs) { return with_last_dimension(inputs[0], directions * hidden); };
  block.forward = [=](const Tensors& x, const Weights& w, const Pass& pass) {
    return unroll_lstm(x[0], w.parameters, bidirectional, pass.training);
  };
  return block;
}

Block relu() {
  return {.kind = "ReLU",
          .infer = same_as_first,
          .forward = [](const Tensors& x, const Weights&, const Pass&) { return at::relu(x[0]); }};
}

Block max_pool2d(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {.kind = "MaxPool2d(kernel " + text(kernel) + ", stride " + text(stride) + ")",
          .infer =
              [=](Types inputs) {
                const Shape& in = inputs[0].shape;
                return TensorType{{in[0], in[1], pooled(in[2], kernel, stride, padding),
                                   pooled(in[3], kernel, stride, padding)},
                                  inputs[0].type};
              },
          .forward =
              [=](const Tensors& x, const Weights&, const Pass&) {
                return at::max_pool2d(x[0], {kernel, kernel}, {stride, stride}, {padding, padding});
              }};
}

Block average_pool2d_to(std::int64_t side) {
  return {.kind = "AdaptiveAvgPool2d(" + text(side) + ")",
          .infer =
              [side](Types inputs) {
                const Shape& in = inputs[0].shape;
                return TensorType{{in[0], in[1], side, side}, inputs[0].type};
              },
          .forward = [side](const Tensors& x, const Weights&,
                            const Pass&) { return pooled_to(x[0], side); }};
}

Block flatten() {
  return {.kind = "Flatten",
          .infer =
              [](Types inputs) {
                const Shape& in = inputs[0].shape;
                return TensorType{{in[0], c10::multiply_integers(in.begin() + 1, in.end())},
                                  inputs[0].type};
              },
          .forward = [](const Tensors& x, const Weights&, const Pass&) { return x[0].flatten(1); }};
}

Block dropout_block(double p) {
  return {.kind = "Dropout(" + brief_number(p) + ")",
          .infer = same_as_first,
          .forward = [p](const Tensors& x, const Weights&, const Pass& pass) {
            return dropout(x[0], p, pass);
          }};
}

Block add() {
  return {.kind = "Add",
          .inputs = {"one", "other"},
          .infer = same_as_first,
          .forward = [](const Tensors& x, const Weights&, const Pass&) { return x[0] + x[1]; }};
}

Block concatenate() {
  return {.kind = "Concat",
          .inputs = {"first", "second"},
          .infer =
              [](Types inputs) {
                std::int64_t last = 0;
                for (const TensorType& input : inputs) last += input.shape.back();
                return with_last_dimension(inputs[0], last);
              },
          .forward = [](const Tensors& x, const Weights&, const Pass&) { return at::cat(x, -1); }};
}

Block cross_entropy(const LabelRules& rules) {
  return {.kind = kCrossEntropy,
          .inputs = {"logits", "labels"},
          .output = "loss",
          .infer =
              [](Types inputs) {
                return TensorType{{}, inputs[0].type};
              },
          .forward =
              [rules](const Tensors& x, const Weights&, const Pass& pass) {
                const auto reduction =
                    rules.ignores_padding ? at::Reduction::Sum : at::Reduction::Mean;
                const at::Tensor loss =
                    at::cross_entropy_loss(x[0].flatten(0, -2), x[1].flatten(), {}, reduction,
                                           kPaddingLabel, pass.training ? rules.smoothing : 0);
                return rules.ignores_padding ? loss / x[1].numel() : loss;
              }};
}

bool has_cross_entropy(const Network& network) {
  const LayerId loss = network.graph.value(network.loss).producer;
  return network.graph.layer(loss).kind == kCrossEntropy;
}

void set_label_rules(Network& network, const LabelRules& rules) {
  PD_CHECK(has_cross_entropy(network));
  LayerSpec& spec = network.specs.at(network.graph.value(network.loss).producer.index());
  LayerSpec changed = spec_of(cross_entropy(rules));
  changed.outputs = spec.outputs;
  spec = std::move(changed);
  network.label_rules = rules;
}

}  // namespace pipedream::model
