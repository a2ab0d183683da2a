// The AWD language model (Merity, Keskar & Socher 2017), with the authors' parameter names: an
// embedding, LSTMs with dropped recurrent weights, and a decoder. Embedding and decoder share one
// matrix. The last LSTM is as wide as the embedding, so that the matrix fits both.
//
// The authors carry the LSTMs' states from one minibatch to the next. Here every minibatch begins
// with states of zero: samples are independent of each other, and replicas take minibatches in
// turn, so the previous minibatch may have run on another worker.
#include <ATen/ops/embedding.h>

#include "core/text.h"
#include "model/blocks.h"
#include "model/random.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

constexpr Init kEmbeddingInit{Init::Kind::kUniform, 0.1F};

struct AwdSizes {
  std::int64_t embedding;
  std::int64_t hidden;
  std::int64_t layers;
  std::int64_t vocabulary;
};

// Dropout probabilities.
struct Drops {
  double embedding;  // of whole words
  double input;      // of the first LSTM's inputs
  double hidden;     // of every LSTM's outputs
  double weight;     // of recurrent weights
};

// An embedding that drops words: wherever a dropped word stands, its vector is zero. The rows that
// are looked up are scaled, not the whole matrix, which gives the same numbers for a small part of
// the work.
Block embedding_with_dropped_words(std::int64_t words, std::int64_t width, double p) {
  Block block = embedding(words, width, kEmbeddingInit);
  block.shared = {0};
  block.forward = [words, p](const Tensors& x, const Weights& w, const Pass& pass) {
    const at::Tensor rows = at::embedding(w.parameters[0], x[0]);
    if (!pass.training || p == 0) return rows;
    return rows * at::embedding(drop_scale({words, 1}, p, pass, rows), x[0]);
  };
  return block;
}

// Variational dropout (Gal & Ghahramani 2016): one mask per sample for all its time steps.
Block locked_dropout(double p) {
  Block block = dropout_block(p);
  block.kind = "LockedDropout(" + brief_number(p) + ")";
  block.forward = [p](const Tensors& x, const Weights&, const Pass& pass) {
    if (!pass.training || p == 0) return x[0];
    return x[0] * drop_scale({x[0].size(0), 1, x[0].size(2)}, p, pass, x[0]);
  };
  return block;
}

// DropConnect (Wan et al. 2013) on the recurrent weights. One mask serves all samples and time
// steps of a pass, so an ordinary LSTM runs on the masked weights.
Block weight_dropped_lstm(std::int64_t in, std::int64_t hidden, double p) {
  constexpr std::size_t kRecurrent = 1;  // weight_hh_l0
  Block block = lstm(in, hidden, /*bidirectional=*/false, default_init(hidden).amount);
  block.kind = "WeightDrop" + block.kind;
  block.parameters[kRecurrent].name += "_raw";
  block.forward = [p, run = block.forward](const Tensors& x, const Weights& w, const Pass& pass) {
    Tensors dropped = w.parameters;
    dropped[kRecurrent] = dropout(dropped[kRecurrent], p, pass);
    return run(x, {dropped, w.buffers}, pass);
  };
  return block;
}

Wire add_lstms(NetworkBuilder& net, const AwdSizes& sizes, const Drops& drops, Wire x) {
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = "rnns." + std::to_string(i);
    const std::int64_t width = i + 1 < sizes.layers ? sizes.hidden : sizes.embedding;
    x = net.add(name + ".dropout", locked_dropout(i == 0 ? drops.input : drops.hidden), {x});
    x = net.add(name, name + ".module",
                weight_dropped_lstm(x.type.shape.back(), width, drops.weight), {x});
  }
  return x;
}

Network make_awd_lm(const Options& options, std::int64_t batch) {
  const AwdSizes sizes{options.whole("embedding"), options.whole("hidden"), options.whole("layers"),
                       options.whole("vocabulary")};
  const Drops drops{options.real("embedding-dropout"), options.real("input-dropout"),
                    options.real("dropout"), options.real("weight-drop")};
  const Shape text{batch, options.whole("length")};
  NetworkBuilder net("awd-lm", batch);
  Wire x = net.input("tokens", text, at::kLong, sizes.vocabulary);
  const Wire words = net.add(
      "encoder", embedding_with_dropped_words(sizes.vocabulary, sizes.embedding, drops.embedding),
      {x});
  x = add_lstms(net, sizes, drops, words);
  x = net.add("decoder.dropout", locked_dropout(drops.hidden), {x});
  x = net.add("decoder", tied_linear(sizes.embedding, sizes.vocabulary, {}),
              {x, net.weight(words)});
  const Wire labels = net.input("labels", text, at::kLong, sizes.vocabulary);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

}  // namespace

NetworkEntry awd_lm_entry() {
  return {
      .name = "awd-lm",
      .about = "AWD language model: LSTMs with weight drop, tied embeddings",
      .options = {whole_option("embedding", 400, 1, 1 << 16, "width of the word vectors"),
                  whole_option("hidden", 1150, 1, 1 << 16, "width of the LSTMs but the last"),
                  whole_option("layers", 3, 1, 1000, "LSTM layers"),
                  whole_option("vocabulary", 33278, 2, 1 << 24, "words; the default is WikiText-2"),
                  whole_option("length", 70, 1, 1 << 16, "words per sample"), dropout_option(0.4),
                  share_option("input-dropout", 0.65, "dropout before the first LSTM"),
                  share_option("embedding-dropout", 0.1, "share of words set to zero"),
                  share_option("weight-drop", 0.5, "share of recurrent weights set to zero")},
      .batch = 80,
      .make = make_awd_lm};
}

}  // namespace pipedream::model
