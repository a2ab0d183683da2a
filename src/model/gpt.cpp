// A GPT-style decoder (Radford et al. 2019), with GPT-2's parameter names. Each block is two
// layers: attention and feed-forward, each with its own normalisation and residual connection.
#include <cmath>

#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "core/error.h"
#include "model/blocks.h"
#include "model/random.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

constexpr Init kGptInit{Init::Kind::kNormal, 0.02F};
constexpr Init kOne{Init::Kind::kConstant, 1};

// dropout(word embedding + position embedding)
Block embed(std::int64_t words, std::int64_t context, std::int64_t width, double p) {
  return {.kind = "Embedding(" + std::to_string(words) + " + " + std::to_string(context) + ", " +
                  std::to_string(width) + ")",
          .parameters = {{"wte.weight", {words, width}, kGptInit},
                         {"wpe.weight", {context, width}, kGptInit}},
          .infer =
              [width](std::span<const TensorType> inputs) {
                return TensorType{{inputs[0].shape[0], inputs[0].shape[1], width}, at::kFloat};
              },
          .forward =
              [p](const Tensors& x, const Weights& w, const Pass& pass) {
                const at::Tensor places = at::arange(x[0].size(1), x[0].options());
                return dropout(
                    at::embedding(w.parameters[0], x[0]) + at::embedding(w.parameters[1], places),
                    p, pass);
              }};
}

// x + dropout(projection(causal attention(norm(x))))
Block causal_attention(std::int64_t width, std::int64_t heads, double p,
                       float projection_deviation) {
  return {.kind = "Attention(" + std::to_string(width) + ", " + std::to_string(heads) + " heads)",
          .parameters = {{"ln_1.weight", {width}, kOne},
                         {"ln_1.bias", {width}, {}},
                         {"attn.c_attn.weight", {3 * width, width}, kGptInit},
                         {"attn.c_attn.bias", {3 * width}, {}},
                         {"attn.c_proj.weight",
                          {width, width},
                          {Init::Kind::kNormal, projection_deviation}},
                         {"attn.c_proj.bias", {width}, {}}},
          .infer = same_as_first,
          .forward = [=](const Tensors& in, const Weights& weights, const Pass& pass) {
            const auto& w = weights.parameters;
            const at::Tensor& x = in[0];
            const at::Tensor normal = at::layer_norm(x, {width}, w[0], w[1]);
            const auto qkv = at::linear(normal, w[2], w[3])
                                 .view({x.size(0), x.size(1), 3, heads, width / heads})
                                 .permute({2, 0, 3, 1, 4})
                                 .unbind(0);
            const at::Tensor mixed = at::scaled_dot_product_attention(
                qkv[0], qkv[1], qkv[2], {}, /*dropout_p=*/0, /*is_causal=*/true);
            const at::Tensor joined = mixed.transpose(1, 2).reshape(x.sizes());
            return x + dropout(at::linear(joined, w[4], w[5]), p, pass);
          }};
}

// x + dropout(projection(gelu(expansion(norm(x)))))
Block feed_forward(std::int64_t width, double p, float projection_deviation) {
  return {.kind = "FeedForward(" + std::to_string(width) + ")",
          .parameters = {{"ln_2.weight", {width}, kOne},
                         {"ln_2.bias", {width}, {}},
                         {"mlp.c_fc.weight", {4 * width, width}, kGptInit},
                         {"mlp.c_fc.bias", {4 * width}, {}},
                         {"mlp.c_proj.weight",
                          {width, 4 * width},
                          {Init::Kind::kNormal, projection_deviation}},
                         {"mlp.c_proj.bias", {width}, {}}},
          .infer = same_as_first,
          .forward = [=](const Tensors& in, const Weights& weights, const Pass& pass) {
            const auto& w = weights.parameters;
            const at::Tensor normal = at::layer_norm(in[0], {width}, w[0], w[1]);
            const at::Tensor wide = at::gelu(at::linear(normal, w[2], w[3]), "tanh");
            return in[0] + dropout(at::linear(wide, w[4], w[5]), p, pass);
          }};
}

Network make_gpt(const Options& options, std::int64_t batch) {
  const std::int64_t width = options.whole("hidden");
  const std::int64_t heads = options.whole("heads");
  const std::int64_t layers = options.whole("layers");
  const std::int64_t words = options.whole("vocabulary");
  const std::int64_t context = options.whole("context");
  const double p = options.real("dropout");
  if (width % heads != 0)
    throw BadUsage("`hidden` " + std::to_string(width) + " cannot be split over `heads` " +
                   std::to_string(heads) + ": choose a multiple");
  // GPT-2 scales the initial weights of projections into the residual stream by 1/√(2·layers).
  const float deviation = 0.02F / std::sqrt(2 * static_cast<float>(layers));

  NetworkBuilder net("gpt", batch);
  Wire x = net.input("tokens", {batch, context}, at::kLong, words);
  x = net.add("transformer.embed", "transformer", embed(words, context, width, p), {x});
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string block = "transformer.h." + std::to_string(i);
    x = net.add(block + ".attn", block, causal_attention(width, heads, p, deviation), {x});
    x = net.add(block + ".mlp", block, feed_forward(width, p, deviation), {x});
  }
  x = net.add("transformer.ln_f", layer_norm(width), {x});
  x = net.add("lm_head", linear_without_bias(width, words, kGptInit), {x});
  const Wire labels = net.input("labels", {batch, context}, at::kLong, words);
  net.add_fact("gelu", "tanh");
  const Wire loss = net.add("loss", cross_entropy(), {x, labels});
  return std::move(net).build(loss);
}

}  // namespace

NetworkEntry gpt_entry() {
  return {.name = "gpt",
          .about = "GPT-style decoder; the defaults are GPT-2 small with its own output weights",
          .options = {whole_option("hidden", 768, 1, 1 << 16, "width of the model"),
                      whole_option("layers", 12, 1, 1000, "transformer blocks"),
                      whole_option("heads", 12, 1, 1 << 10, "attention heads"),
                      whole_option("vocabulary", 50257, 2, 1 << 24, "tokens"),
                      whole_option("context", 1024, 1, 1 << 20, "tokens per sample"),
                      dropout_option(0.1)},
          .batch = 8,
          .make = make_gpt};
}

}  // namespace pipedream::model
