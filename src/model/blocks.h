// Kinds of layers for the networks of the zoo. Initial weights follow torchvision's.
#pragma once

#include "model/network_builder.h"

namespace pipedream::model {

// For Block::infer: the output has the type of the first input.
[[nodiscard]] TensorType same_as_first(std::span<const TensorType> inputs);

// Uniform in ±1/√fan_in, torch's default for convolutions, linear layers and their biases.
[[nodiscard]] Init default_init(std::int64_t fan_in);
// Normal with variance 2/fan_out: He et al. 2015, as torchvision initialises convolutions before
// ReLU.
[[nodiscard]] Init he_normal(std::int64_t fan_out);

struct Conv {
  std::int64_t in = 0;   // channels
  std::int64_t out = 0;  // channels
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool bias = true;
  bool he_init = false;  // true: he_normal() and a bias of 0; false: default_init()
};
[[nodiscard]] Block conv2d(const Conv& conv);

// Whether each channel of `x` [N, C, …] has several values. The variance of a single one is not a
// number, so batch normalisation must not add it to its running averages.
[[nodiscard]] bool has_variance(const at::Tensor& x);
[[nodiscard]] Block linear(std::int64_t in, std::int64_t out);
[[nodiscard]] Block linear(std::int64_t in, std::int64_t out, Init weight, Init bias);
[[nodiscard]] Block linear_without_bias(std::int64_t in, std::int64_t out, Init weight);
// A linear layer with a bias of its own and the weight of another layer, which is its second input
// (NetworkBuilder::weight).
[[nodiscard]] Block tied_linear(std::int64_t in, std::int64_t out, Init bias);
[[nodiscard]] Block batch_norm2d(std::int64_t channels);
[[nodiscard]] Block layer_norm(std::int64_t width);
[[nodiscard]] Block embedding(std::int64_t words, std::int64_t width, Init weight);
// One LSTM layer over [N, T, in]. All its weights begin uniform in ±`bound`.
[[nodiscard]] Block lstm(std::int64_t in, std::int64_t hidden, bool bidirectional, float bound);

[[nodiscard]] Block relu();
[[nodiscard]] Block max_pool2d(std::int64_t kernel, std::int64_t stride, std::int64_t padding = 0);
[[nodiscard]] Block average_pool2d_to(std::int64_t side);  // adaptive: any image to side × side
[[nodiscard]] Block flatten();                             // joins all dimensions after the first
[[nodiscard]] Block dropout_block(double p);
[[nodiscard]] Block add();          // the sum of two inputs of equal shape
[[nodiscard]] Block concatenate();  // joins two inputs along the last dimension
// The mean cross-entropy of logits [N, …, C] and class numbers [N, …], a scalar. In training, a
// share of each label is spread evenly over all classes if the rules say so (label smoothing). If
// they say that padding is ignored, the sum over the other labels is divided by the number of all
// labels, padding included. So the losses of microbatches and replicas have the weights of their
// samples, and nobody has to know how much padding the others have.
[[nodiscard]] Block cross_entropy(const LabelRules& rules = {});
inline constexpr const char* kCrossEntropy = "CrossEntropy";  // Block::kind of cross_entropy()

// Gives the network's loss other rules. Requires has_cross_entropy().
void set_label_rules(Network& network, const LabelRules& rules);
// Whether the network's loss is cross_entropy().
[[nodiscard]] bool has_cross_entropy(const Network& network);

}  // namespace pipedream::model
