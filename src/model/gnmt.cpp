// GNMT (Wu et al. 2016): an LSTM encoder–decoder with attention, in the form that PipeDream's
// authors profiled. Half of the LSTM layers are the encoder, and the first of them is
// bidirectional. Residual connections begin with the third layer of each half. Attention over the
// encoder's outputs is computed from the bottom decoder layer, and its context is an input of every
// decoder layer above.
#include <cmath>

#include <ATen/ops/bmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>

#include "model/blocks.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

constexpr float kGnmtBound = 0.1F;  // all weights begin uniform in ±0.1
constexpr Init kGnmtInit{Init::Kind::kUniform, kGnmtBound};

// Normalised additive attention (Bahdanau et al. 2015; Salimans & Kingma 2016).
// Inputs: queries [N, T, H], keys [N, S, H]; output: context [N, T, H].
Block additive_attention(std::int64_t hidden) {
  const auto h = static_cast<float>(hidden);
  return {.kind = "Attention(" + std::to_string(hidden) + ")",
          .inputs = {"queries", "keys"},
          .output = "context",
          .parameters = {{"linear_q.weight", {hidden, hidden}, kGnmtInit},
                         {"linear_k.weight", {hidden, hidden}, kGnmtInit},
                         {"linear_att", {hidden}, kGnmtInit},
                         {"normalize_scalar", {1}, {Init::Kind::kConstant, 1 / std::sqrt(h)}},
                         {"normalize_bias", {hidden}, {}}},
          .infer = [](std::span<const TensorType> inputs) { return inputs[0]; },
          .forward =
              [](const Tensors& in, const Weights& w, const Pass&) {
                const auto& p = w.parameters;
                const at::Tensor queries = at::linear(in[0], p[0]).unsqueeze(2);  // [N, T, 1, H]
                const at::Tensor keys = at::linear(in[1], p[1]).unsqueeze(1);     // [N, 1, S, H]
                const at::Tensor direction = p[2] / p[2].norm() * p[3];
                const at::Tensor scores =
                    at::matmul(at::tanh(queries + keys + p[4]), direction);  // [N, T, S]
                return at::bmm(at::softmax(scores, -1), in[1]);
              }};
}

struct GnmtSizes {
  std::int64_t hidden;
  std::int64_t vocabulary;
  double dropout;
  std::int64_t layers;  // LSTM layers in each half
};

std::string layer_name(const std::string& half, std::int64_t index) {
  return half + ".rnn_layers." + std::to_string(index);
}

// Adds dropout, an LSTM and, if `residual` holds a wire, the sum of the LSTM's output and that
// wire.
Wire add_lstm(NetworkBuilder& net, const std::string& name, const GnmtSizes& sizes, Wire x,
              const std::vector<Wire>& residual, bool bidirectional = false) {
  x = net.add(name + ".dropout", dropout_block(sizes.dropout), {x});
  x = net.add(name, lstm(x.type.shape.back(), sizes.hidden, bidirectional, kGnmtBound), {x});
  return residual.empty() ? x : net.add(name + ".residual", add(), {x, residual[0]});
}

Wire add_encoder(NetworkBuilder& net, const GnmtSizes& sizes, Wire source) {
  Wire x =
      net.add("encoder.embedder", embedding(sizes.vocabulary, sizes.hidden, kGnmtInit), {source});
  x = add_lstm(net, layer_name("encoder", 0), sizes, x, {}, /*bidirectional=*/true);
  x = add_lstm(net, layer_name("encoder", 1), sizes, x, {});
  for (std::int64_t i = 2; i < sizes.layers; ++i)
    x = add_lstm(net, layer_name("encoder", i), sizes, x, {x});
  return x;
}

Wire add_decoder(NetworkBuilder& net, const GnmtSizes& sizes, Wire target, Wire encoded) {
  Wire x =
      net.add("decoder.embedder", embedding(sizes.vocabulary, sizes.hidden, kGnmtInit), {target});
  x = add_lstm(net, "decoder.att_rnn.rnn", sizes, x, {});
  const Wire context =
      net.add("decoder.att_rnn.attn", additive_attention(sizes.hidden), {x, encoded});
  for (std::int64_t i = 0; i < sizes.layers - 1; ++i) {
    const std::string name = layer_name("decoder", i);
    const Wire joined = net.add(name + ".concat", concatenate(), {x, context});
    const std::vector<Wire> residual = i == 0 ? std::vector<Wire>{} : std::vector<Wire>{x};
    x = add_lstm(net, name, sizes, joined, residual);
  }
  return net.add("decoder.classifier.classifier",
                 linear(sizes.hidden, sizes.vocabulary, kGnmtInit, kGnmtInit), {x});
}

Network make_gnmt(const std::string& name, std::int64_t lstm_layers, const Options& options,
                  std::int64_t batch) {
  const GnmtSizes sizes{options.whole("hidden"), options.whole("vocabulary"),
                        options.real("dropout"), lstm_layers / 2};
  const Shape sentence{batch, options.whole("length")};
  NetworkBuilder net(name, batch);
  const Wire source = net.input("source", sentence, at::kLong, sizes.vocabulary);
  const Wire encoded = add_encoder(net, sizes, source);
  const Wire target = net.input("target", sentence, at::kLong, sizes.vocabulary);
  const Wire logits = add_decoder(net, sizes, target, encoded);
  const Wire labels = net.input("labels", sentence, at::kLong, sizes.vocabulary);
  return std::move(net).build(net.add("loss", cross_entropy(), {logits, labels}));
}

}  // namespace

NetworkEntry gnmt_entry(std::int64_t lstm_layers) {
  const std::string name = "gnmt" + std::to_string(lstm_layers);
  return {.name = name,
          .about = "GNMT-" + std::to_string(lstm_layers) + " translation: LSTMs with attention",
          .options = {whole_option("hidden", 1024, 1, 1 << 16, "width of the LSTM layers"),
                      whole_option("vocabulary", 32320, 2, 1 << 24, "words of each language"),
                      whole_option("length", 50, 1, 1 << 16, "words per sentence"),
                      dropout_option(0.2)},
          .batch = 64,
          .make = [=](const Options& options, std::int64_t batch) {
            return make_gnmt(name, lstm_layers, options, batch);
          }};
}

}  // namespace pipedream::model
