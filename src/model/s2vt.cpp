// S2VT (Venugopalan et al. 2015), "sequence to sequence, video to text": two stacked LSTMs first
// read the frames of a video and then write its caption.
//
//   step             1 …     F      F+1 …   F+T
//   lstm1 reads      frame 1 … F    zeros
//   lstm2 reads      zeros          word 1 … T     and lstm1's output of the same step
//   output predicts                 label 1 … T
//
// The length of the padding follows from the number of words in the pass, so samples of any length
// run.
#include <ATen/ops/cat.h>

#include "model/blocks.h"
#include "model/random.h"
#include "model/zoo.h"

namespace pipedream::model {
namespace {

constexpr float kS2vtBound = 0.08F;  // all weights begin uniform in ±0.08
constexpr Init kS2vtInit{Init::Kind::kUniform, kS2vtBound};

using Types = std::span<const TensorType>;

// Zeros [N, steps, W], of the type and device of x [N, …, W].
at::Tensor padding_like(const at::Tensor& x, std::int64_t steps) {
  return x.new_zeros({x.size(0), steps, x.size(2)});
}

// An LSTM that reads the frames and then T steps of zeros. Inputs: frames [N, F, E], and words
// [N, T], used for their number T alone. Output: [N, F + T, H].
Block lstm_over_frames_then_padding(std::int64_t in, std::int64_t hidden) {
  Block block = lstm(in, hidden, /*bidirectional=*/false, kS2vtBound);
  block.inputs = {"frames", "words"};
  block.infer = [hidden](Types inputs) {
    const Shape& frames = inputs[0].shape;
    return TensorType{{frames[0], frames[1] + inputs[1].shape[1], hidden}, inputs[0].type};
  };
  block.forward = [run = block.forward](const Tensors& x, const Weights& w, const Pass& pass) {
    return run({at::cat({x[0], padding_like(x[0], x[1].size(1))}, 1)}, w, pass);
  };
  return block;
}

// Joins lstm1's states with the words of the same step, or with zeros while frames are read.
// Inputs: states [N, F + T, H], words [N, T, E]. Output: [N, F + T, H + E].
Block join_padding_then_words() {
  Block block = concatenate();
  block.inputs = {"states", "words"};
  block.forward = [](const Tensors& x, const Weights&, const Pass&) {
    const std::int64_t frames = x[0].size(1) - x[1].size(1);
    return at::cat({x[0], at::cat({padding_like(x[1], frames), x[1]}, 1)}, 2);
  };
  return block;
}

// Selects the last T states, those of the caption, and applies dropout.
// Inputs: states [N, F + T, H], and words [N, T], used for their number T alone. Output: [N, T, H].
Block caption_states(double p) {
  Block block = dropout_block(p);
  block.kind = "Caption" + block.kind;
  block.inputs = {"states", "words"};
  block.infer = [](Types inputs) {
    const Shape& states = inputs[0].shape;
    return TensorType{{states[0], inputs[1].shape[1], states[2]}, inputs[0].type};
  };
  block.forward = [p](const Tensors& x, const Weights&, const Pass& pass) {
    const std::int64_t words = x[1].size(1);
    return dropout(x[0].narrow(1, x[0].size(1) - words, words), p, pass);
  };
  return block;
}

Network make_s2vt(const Options& options, std::int64_t batch) {
  const std::int64_t features = options.whole("features");
  const std::int64_t hidden = options.whole("hidden");
  const std::int64_t width = options.whole("embedding");
  const std::int64_t vocabulary = options.whole("vocabulary");
  const double p = options.real("dropout");
  const Shape caption{batch, options.whole("length")};
  NetworkBuilder net("s2vt", batch);
  const Wire frames = net.input("frames", {batch, options.whole("frames"), features}, at::kFloat);
  Wire x = net.add("embed_frames", linear(features, width, kS2vtInit, {}), {frames});
  const Wire words = net.input("words", caption, at::kLong, vocabulary);
  x = net.add("lstm1", lstm_over_frames_then_padding(width, hidden), {x, words});
  x = net.add("lstm1.dropout", dropout_block(p), {x});
  const Wire embedded = net.add("embed_words", embedding(vocabulary, width, kS2vtInit), {words});
  x = net.add("join", join_padding_then_words(), {x, embedded});
  x = net.add("lstm2", lstm(hidden + width, hidden, /*bidirectional=*/false, kS2vtBound), {x});
  x = net.add("lstm2.caption", caption_states(p), {x, words});
  x = net.add("output", linear(hidden, vocabulary, kS2vtInit, {}), {x});
  const Wire labels = net.input("labels", caption, at::kLong, vocabulary);
  return std::move(net).build(net.add("loss", cross_entropy(), {x, labels}));
}

}  // namespace

NetworkEntry s2vt_entry() {
  return {
      .name = "s2vt",
      .about = "S2VT video captioning: two LSTMs over frames, then words",
      .options = {whole_option("frames", 80, 1, 1 << 16, "frames per video"),
                  whole_option("features", 4096, 1, 1 << 20, "numbers per frame"),
                  whole_option("hidden", 1000, 1, 1 << 16, "width of the LSTM layers"),
                  whole_option("embedding", 500, 1, 1 << 16, "width of frame and word vectors"),
                  whole_option("vocabulary", 12594, 2, 1 << 24, "words"),
                  whole_option("length", 20, 1, 1 << 16, "words per caption"), dropout_option(0.5)},
      .batch = 80,
      .make = make_s2vt};
}

}  // namespace pipedream::model
