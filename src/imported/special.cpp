#include "imported/special.h"

#include <cmath>
#include <map>
#include <set>

#include <ATen/ATen.h>

#include "imported/operators.h"
#include "imported/schema.h"
#include "model/blocks.h"
#include "model/conv2d.h"
#include "model/lstm.h"
#include "model/random.h"
#include "pt2/calls.h"

namespace pipedream::imported {
namespace {

using Stack = std::vector<c10::IValue>;
using c10::IValue;
using c10::OperatorHandle;

// The pass with the random key of the next call that draws.
model::Pass next_draw(Surroundings& surroundings) {
  model::Pass pass = surroundings.pass;
  ++surroundings.pass.random.draw;
  return pass;
}

void call_as_it_is(const OperatorHandle& op, Stack& stack) { op.callBoxed(stack); }

// dropout(Tensor input, float p, bool train)
void dropout(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const at::Tensor x = stack[0].toTensor();
  const model::Pass pass = next_draw(surroundings);
  stack = {stack[2].toBool() ? model::dropout(x, stack[1].toDouble(), pass) : x};
}

// feature_dropout(Tensor input, float p, bool train): drops whole channels.
void feature_dropout(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const at::Tensor x = stack[0].toTensor();
  const double p = stack[1].toDouble();
  const model::Pass pass = next_draw(surroundings);
  if (!stack[2].toBool() || !pass.training || p == 0) {
    stack = {x};
    return;
  }
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  for (std::size_t d = 0; d < std::min<std::size_t>(2, shape.size()); ++d)
    shape[d] = x.size(static_cast<std::int64_t>(d));
  stack = {x * model::drop_scale(shape, p, pass, x)};
}

// native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)
void native_dropout(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const at::Tensor x = stack[0].toTensor();
  const bool train = stack[2].isNone() || stack[2].toBool();
  const model::Pass pass = next_draw(surroundings);
  if (!train || !pass.training) {
    stack = {x, at::ones_like(x, x.options().dtype(at::kBool))};
    return;
  }
  const at::Tensor scale = model::drop_scale(x.sizes(), stack[1].toDouble(), pass, x);
  stack = {x * scale, scale.ne(0)};
}

// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, gqa)
void attention(const OperatorHandle& op, Stack& stack, Surroundings& surroundings) {
  const model::Pass pass = next_draw(surroundings);
  const double p = stack[4].toDouble();
  if (!pass.training || p == 0) {
    stack[4] = 0.0;
    return call_as_it_is(op, stack);
  }
  const at::Tensor query = stack[0].toTensor();
  at::Tensor key = stack[1].toTensor();
  at::Tensor value = stack[2].toTensor();
  if (stack[7].toBool()) {  // several heads of the query share one of key and value
    key = key.repeat_interleave(query.size(-3) / key.size(-3), -3);
    value = value.repeat_interleave(query.size(-3) / value.size(-3), -3);
  }
  const double scale = stack[6].isNone() ? 1 / std::sqrt(static_cast<double>(query.size(-1)))
                                         : stack[6].toScalar().toDouble();
  at::Tensor scores = at::matmul(query * scale, key.transpose(-2, -1));
  const double never = -std::numeric_limits<double>::infinity();
  if (stack[5].toBool()) {
    const at::Tensor future =
        at::ones({query.size(-2), key.size(-2)}, query.options().dtype(at::kBool)).triu(1);
    scores = scores.masked_fill(future, never);
  }
  if (!stack[3].isNone()) {
    const at::Tensor mask = stack[3].toTensor();
    scores = mask.scalar_type() == at::kBool ? scores.masked_fill(mask.logical_not(), never)
                                             : scores + mask;
  }
  // As libtorch's own attention does, gives 0 to a query that may look at no key.
  stack = {at::matmul(model::dropout(at::_safe_softmax(scores, -1), p, pass), value)};
}

// batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn),
// native_batch_norm without the last argument, and instance_norm, where the sixth argument is
// called use_input_stats. In training, the operator normalises with the batch's own mean and
// variance; without running averages, it updates none.
void batch_norm(const OperatorHandle& op, Stack& stack, Surroundings& surroundings) {
  const bool trains = stack[5].toBool() && surroundings.pass.training;
  const bool has_averages = !stack[3].isNone();
  stack[5] = trains || !has_averages;
  if (trains && !(surroundings.pass.update_statistics && model::has_variance(stack[0].toTensor())))
    stack[3] = stack[4] = IValue();
  call_as_it_is(op, stack);
}

// Throws c10::Error unless each of the arguments 1 to `last` is none or has one element for each
// channel of the input. The native operators read and write these tensors without a check.
void want_one_per_channel(const Stack& stack, std::size_t last) {
  const at::Tensor x = stack[0].toTensor();
  TORCH_CHECK(x.dim() >= 2, "wanted an input of at least 2 dimensions, found ", x.dim());
  for (std::size_t i = 1; i <= last; ++i) {
    if (stack[i].isNone()) continue;
    const at::Tensor of_channels = stack[i].toTensor();
    TORCH_CHECK(of_channels.dim() == 1 && of_channels.numel() == x.size(1), "wanted ", x.size(1),
                " elements, one for each channel, found the shape ", of_channels.sizes());
  }
}

void native_batch_norm(const OperatorHandle& op, Stack& stack, Surroundings& surroundings) {
  want_one_per_channel(stack, 4);
  batch_norm(op, stack, surroundings);
}

// _native_batch_norm_legit_no_training has no `training`, and the overload no_stats of
// _native_batch_norm_legit has no running averages.
template <std::size_t kLast>
void steady_batch_norm(const OperatorHandle& op, Stack& stack, Surroundings&) {
  want_one_per_channel(stack, kLast);
  call_as_it_is(op, stack);
}

// _native_batch_norm_legit_functional(input, weight, bias, running_mean, running_var, training, …)
// returns the new averages, and changes none.
void functional_batch_norm(const OperatorHandle& op, Stack& stack, Surroundings& surroundings) {
  want_one_per_channel(stack, 4);
  const bool trains = stack[5].toBool() && surroundings.pass.training;
  stack[5] = trains;
  const IValue mean = stack[3];
  const IValue variance = stack[4];
  const bool has_variance = model::has_variance(stack[0].toTensor());
  call_as_it_is(op, stack);
  if (!trains || has_variance) return;
  stack[3] = mean;
  stack[4] = variance;
}

// _weight_norm(Tensor v, Tensor g, int dim) and _weight_norm_interface. Their kernels read `g`
// without a check of its size.
void weight_norm(const OperatorHandle& op, Stack& stack, Surroundings&) {
  const at::Tensor v = stack[0].toTensor();
  const at::Tensor g = stack[1].toTensor();
  const std::int64_t dimension = stack[2].toInt();
  TORCH_CHECK(dimension < v.dim(), "there is no dimension ", dimension);
  TORCH_CHECK(dimension < 0 || g.numel() == v.size(dimension), "wanted ", v.size(dimension),
              " norms, found ", g.numel());
  call_as_it_is(op, stack);
}

// view(Tensor self, SymInt[] size). A tensor may be laid out otherwise in memory than in the export
// (imported/layer.cpp), so that this view of it needs a copy.
void view(const OperatorHandle&, Stack& stack, Surroundings&) {
  stack = {stack[0].toTensor().reshape(stack[1].toIntVector())};
}

// embedding(Tensor weight, Tensor indices, SymInt padding_idx, bool scale_grad_by_freq, bool
// sparse) and embedding_bag, which has `sparse` as its sixth argument. Gradients are summed in
// dense buffers, so a sparse gradient, which has the same numbers, is of no use.
template <std::size_t kSparse>
void with_dense_gradient(const OperatorHandle& op, Stack& stack, Surroundings&) {
  stack[kSparse] = false;
  call_as_it_is(op, stack);
}

// copy(Tensor self, Tensor src, bool non_blocking): what copy_ writes into `self`. libtorch has no
// gradient for it.
void copy(const OperatorHandle&, Stack& stack, Surroundings&) {
  const at::Tensor self = stack[0].toTensor();
  stack = {stack[1].toTensor().to(self.scalar_type()).expand_as(self)};
}

// conv2d(input, weight, bias, stride, padding, dilation, groups)
void convolution(const OperatorHandle& op, Stack& stack, Surroundings&) {
  const auto stride = stack[3].toIntVector();
  const auto padding = stack[4].toIntVector();
  const auto dilation = stack[5].toIntVector();
  const auto all = [](const std::vector<std::int64_t>& list, std::int64_t wanted) {
    return std::all_of(list.begin(), list.end(), [&](std::int64_t each) { return each == wanted; });
  };
  const at::Tensor weight = stack[1].toTensor();
  const at::Tensor input = stack[0].toTensor();
  const bool is_plain = input.dim() == 4 && weight.size(2) == weight.size(3) && !stride.empty() &&
                        all(stride, stride[0]) && !padding.empty() && all(padding, padding[0]) &&
                        all(dilation, 1) && stack[6].toInt() == 1;
  if (!is_plain) return call_as_it_is(op, stack);
  const at::Tensor bias = stack[2].isNone() ? at::Tensor() : stack[2].toTensor();
  stack = {model::convolve(input, weight, bias, stride[0], padding[0])};
}

struct Recurrent {
  std::vector<at::Tensor> states;   // [layers·directions, N, hidden]: one for gru, two for lstm
  std::vector<at::Tensor> weights;  // of all layers and directions
  bool has_biases = true;
  std::int64_t layers = 1;
  double dropout = 0;
  bool bidirectional = false;
  bool batch_first = false;
};

// Runs the layers one by one, with dropout of our own generator between them. `of_layer` computes
// one layer from its input, states and weights, and returns output and states.
template <class OfLayer>
Stack run_layers(at::Tensor x, const Recurrent& of, Surroundings& surroundings, OfLayer of_layer) {
  const std::int64_t directions = of.bidirectional ? 2 : 1;
  const std::size_t each = of.weights.size() / static_cast<std::size_t>(of.layers);
  std::vector<std::vector<at::Tensor>> last(of.states.size());
  const model::Pass pass = next_draw(surroundings);
  for (std::int64_t layer = 0; layer < of.layers; ++layer) {
    std::vector<at::Tensor> states;
    for (const at::Tensor& state : of.states)
      states.push_back(state.narrow(0, layer * directions, directions));
    const auto begin = of.weights.begin() + static_cast<std::ptrdiff_t>(each) * layer;
    const std::vector<at::Tensor> weights(begin, begin + static_cast<std::ptrdiff_t>(each));
    const std::vector<at::Tensor> results = of_layer(x, states, weights);
    x = results[0];
    for (std::size_t s = 0; s < last.size(); ++s) last[s].push_back(results[s + 1]);
    if (layer + 1 == of.layers) break;
    model::Pass of_this = pass;
    of_this.random.draw += static_cast<std::int32_t>(layer);
    x = model::dropout(x, of.dropout, of_this);
  }
  surroundings.pass.random.draw += static_cast<std::int32_t>(of.layers);
  Stack results{x};
  for (const auto& states : last) results.emplace_back(at::cat(states, 0));
  return results;
}

// Throws c10::Error unless the numbers of states and weights are those of the layers.
void want_complete(const Recurrent& of, std::size_t states) {
  const std::size_t each = (of.bidirectional ? 2 : 1) * (of.has_biases ? 4 : 2);
  TORCH_CHECK(of.layers > 0 && of.layers < 1'000'000, "it has ", of.layers, " layers");
  const auto layers = static_cast<std::size_t>(of.layers);
  TORCH_CHECK(of.states.size() == states, "wanted ", states, " states, found ", of.states.size());
  TORCH_CHECK(of.weights.size() % layers == 0 && of.weights.size() / layers >= each, "wanted ",
              each, " weights for each of ", layers, " layers, found ", of.weights.size());
}

// lstm.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
Recurrent recurrent_of(const Stack& stack, std::vector<at::Tensor> states) {
  return {.states = std::move(states),
          .weights = stack[2].toTensorVector(),
          .has_biases = stack[3].toBool(),
          .layers = stack[4].toInt(),
          .dropout = stack[6].toBool() ? stack[5].toDouble() : 0,
          .bidirectional = stack[7].toBool(),
          .batch_first = stack[8].toBool()};
}

void lstm_of_libtorch(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const Recurrent of = recurrent_of(stack, stack[1].toTensorVector());
  want_complete(of, 2);
  const bool trains = surroundings.pass.training;
  stack = run_layers(stack[0].toTensor(), of, surroundings,
                     [&](const at::Tensor& x, const auto& states, const auto& weights) {
                       const auto [y, h, c] = at::lstm(x, states, weights, of.has_biases, 1, 0.0,
                                                       trains, of.bidirectional, of.batch_first);
                       return std::vector<at::Tensor>{y, h, c};
                     });
}

void lstm(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const Recurrent of = recurrent_of(stack, stack[1].toTensorVector());
  want_complete(of, 2);
  const model::LstmOptions options{of.has_biases, of.bidirectional, surroundings.pass.training};
  const auto turned = [&](const at::Tensor& x) { return of.batch_first ? x : x.transpose(0, 1); };
  stack = run_layers(turned(stack[0].toTensor()), of, surroundings,
                     [&](const at::Tensor& x, const auto& states, const auto& weights) {
                       model::LstmResult result =
                           model::run_lstm(x, states[0], states[1], weights, options);
                       return std::vector<at::Tensor>{result.output, result.hidden, result.cell};
                     });
  stack[0] = turned(stack[0].toTensor());
}

// gru.input, rnn_tanh.input and rnn_relu.input have lstm's arguments, but one state.
template <auto kOperator>
void with_one_state(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const Recurrent of = recurrent_of(stack, {stack[1].toTensor()});
  want_complete(of, 1);
  const bool trains = surroundings.pass.training;
  stack = run_layers(stack[0].toTensor(), of, surroundings,
                     [&](const at::Tensor& x, const auto& states, const auto& weights) {
                       const auto [y, h] = kOperator(x, states[0], weights, of.has_biases, 1, 0.0,
                                                     trains, of.bidirectional, of.batch_first);
                       return std::vector<at::Tensor>{y, h};
                     });
}

using OneState = std::tuple<at::Tensor, at::Tensor> (*)(const at::Tensor&, const at::Tensor&,
                                                        at::TensorList, bool, std::int64_t, double,
                                                        bool, bool, bool);
constexpr OneState kGru = at::gru;
constexpr OneState kTanh = at::rnn_tanh;
constexpr OneState kRelu = at::rnn_relu;

// Options that a new tensor gets: dtype, layout, device and pin_memory follow each other in
// schemas.
at::TensorOptions options_at(const Stack& stack, std::size_t dtype, const at::TensorOptions& like) {
  return stack[dtype].isNone() ? like : like.dtype(stack[dtype].toScalarType());
}

at::Tensor uniform(at::IntArrayRef shape, Surroundings& surroundings) {
  return model::uniform(shape, next_draw(surroundings).random, surroundings.device);
}

at::Tensor normal(at::IntArrayRef shape, Surroundings& surroundings) {
  return model::normal(shape, next_draw(surroundings).random, surroundings.device);
}

// rand(SymInt[] size, dtype, layout, device, pin_memory)
void rand(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const auto options = options_at(stack, 1, at::TensorOptions().dtype(at::kFloat));
  stack = {uniform(stack[0].toIntVector(), surroundings).to(options.dtype())};
}

void randn(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const auto options = options_at(stack, 1, at::TensorOptions().dtype(at::kFloat));
  stack = {normal(stack[0].toIntVector(), surroundings).to(options.dtype())};
}

// rand_like(Tensor self, dtype, …)
void rand_like(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const at::Tensor like = stack[0].toTensor();
  stack = {uniform(like.sizes(), surroundings).to(options_at(stack, 1, like.options()).dtype())};
}

void randn_like(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const at::Tensor like = stack[0].toTensor();
  stack = {normal(like.sizes(), surroundings).to(options_at(stack, 1, like.options()).dtype())};
}

// randint.low(low, high, size, dtype, …), and randint(high, size, dtype, …)
void randint(const OperatorHandle& op, Stack& stack, Surroundings& surroundings) {
  const std::size_t size = op.schema().overload_name() == "low" ? 2 : 1;
  const double low = size == 2 ? static_cast<double>(stack[0].toInt()) : 0;
  const auto high = static_cast<double>(stack[size - 1].toInt());
  const auto options = options_at(stack, size + 1, at::TensorOptions().dtype(at::kLong));
  const at::Tensor drawn = uniform(stack[size].toIntVector(), surroundings).to(at::kDouble);
  stack = {(drawn * (high - low) + low).floor().to(options.dtype())};
}

// randint_like.low_dtype(self, low, high, dtype, …), and randint_like(self, high, dtype, …)
void randint_like(const OperatorHandle& op, Stack& stack, Surroundings& surroundings) {
  const std::size_t high_at = op.schema().overload_name() == "low_dtype" ? 2 : 1;
  const at::Tensor like = stack[0].toTensor();
  const double low = high_at == 2 ? static_cast<double>(stack[1].toInt()) : 0;
  const auto high = static_cast<double>(stack[high_at].toInt());
  const auto options = options_at(stack, high_at + 1, like.options());
  const at::Tensor drawn = uniform(like.sizes(), surroundings).to(at::kDouble);
  stack = {(drawn * (high - low) + low).floor().to(options.dtype())};
}

// bernoulli(self, generator), whose elements are probabilities; bernoulli.p(self, p, generator),
// and bernoulli_.float with the same arguments. Models draw such numbers to drop something in
// training: stochastic depth drops whole blocks, and divides by the probability. In evaluation the
// result is therefore the probability itself.
void bernoulli(const OperatorHandle& op, Stack& stack, Surroundings& surroundings) {
  const at::Tensor self = stack[0].toTensor();
  const bool has_p = !op.schema().overload_name().empty();
  if (!surroundings.pass.training) {
    stack = {has_p ? at::full_like(self, stack[1].toDouble()) : self};
    return;
  }
  const at::Tensor drawn = uniform(self.sizes(), surroundings);
  stack = {(has_p ? drawn.lt(stack[1].toDouble()) : drawn.lt(self)).to(self.dtype())};
}

// uniform(self, from, to, generator)
void uniform_between(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const at::Tensor self = stack[0].toTensor();
  const double from = stack[1].toDouble();
  const double to = stack[2].toDouble();
  stack = {(uniform(self.sizes(), surroundings) * (to - from) + from).to(self.dtype())};
}

// normal_functional(self, mean, std, generator)
void normal_around(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const at::Tensor self = stack[0].toTensor();
  const double mean = stack[1].toDouble();
  const double deviation = stack[2].toDouble();
  stack = {(normal(self.sizes(), surroundings) * deviation + mean).to(self.dtype())};
}

// exponential(self, lambd, generator). 1 - u is never 0.
void exponential(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const at::Tensor self = stack[0].toTensor();
  const at::Tensor drawn = uniform(self.sizes(), surroundings);
  stack = {((1 - drawn).log() / -stack[1].toDouble()).to(self.dtype())};
}

// alpha_dropout(Tensor input, float p, bool train), and feature_alpha_dropout, which drops whole
// channels. What is dropped becomes the least value of SELU, and all is scaled so that mean and
// variance stay.
void alpha_dropout(const OperatorHandle& op, Stack& stack, Surroundings& surroundings) {
  constexpr double kLeast = 1.7580993408473766;
  const at::Tensor x = stack[0].toTensor();
  const double p = stack[1].toDouble();
  const bool is_on = stack[2].toBool() && surroundings.pass.training && p > 0;
  const bool drops_channels = op.schema().name() == "aten::feature_alpha_dropout";
  std::vector<std::int64_t> shape = x.sizes().vec();
  for (std::size_t d = 2; drops_channels && d < shape.size(); ++d) shape[d] = 1;
  const at::Tensor drawn = uniform(shape, surroundings);
  if (!is_on || p == 1) {
    stack = {is_on ? x * 0 : x};
    return;
  }
  const double scale = 1 / std::sqrt((kLeast * kLeast * p + 1) * (1 - p));
  const at::Tensor kept = drawn.ge(p).to(x.dtype());
  stack = {x * (kept * scale) + ((kept - 1) * (kLeast * scale) + kLeast * scale * p)};
}

// rrelu(Tensor self, Scalar lower, Scalar upper, bool training, Generator)
void rrelu(const OperatorHandle&, Stack& stack, Surroundings& surroundings) {
  const at::Tensor x = stack[0].toTensor();
  const double lower = stack[1].toScalar().toDouble();
  const double upper = stack[2].toScalar().toDouble();
  const at::Tensor drawn = uniform(x.sizes(), surroundings).to(x.dtype());
  const bool is_on = stack[3].toBool() && surroundings.pass.training;
  stack = {is_on ? at::where(x > 0, x, x * (drawn * (upper - lower) + lower))
                 : at::leaky_relu(x, (lower + upper) / 2)};
}

struct Replacement {
  Special compute = nullptr;
  const char* mode = nullptr;  // the argument that says whether the export was in training mode
  bool draws = false;
};

// By operator and overload.
const std::map<std::string, Replacement>& replacements() {
  static const std::map<std::string, Replacement> all{
      {"dropout", {dropout, "train", true}},
      {"feature_dropout", {feature_dropout, "train", true}},
      {"native_dropout", {native_dropout, "train", true}},
      {"alpha_dropout", {alpha_dropout, "train", true}},
      {"feature_alpha_dropout", {alpha_dropout, "train", true}},
      {"rrelu", {rrelu, "training", true}},
      {"scaled_dot_product_attention", {attention, nullptr, true}},
      {"batch_norm", {batch_norm, "training", false}},
      {"native_batch_norm", {native_batch_norm, "training", false}},
      {"_native_batch_norm_legit", {native_batch_norm, "training", false}},
      {"_native_batch_norm_legit.no_stats", {steady_batch_norm<2>, "training", false}},
      {"_native_batch_norm_legit_no_training", {steady_batch_norm<4>, nullptr, false}},
      {"_native_batch_norm_legit_functional", {functional_batch_norm, "training", false}},
      {"instance_norm", {batch_norm, "use_input_stats", false}},
      {"copy", {copy, nullptr, false}},
      {"view", {view, nullptr, false}},
      {"_unsafe_view", {view, nullptr, false}},
      {"_reshape_alias", {view, nullptr, false}},
      {"_weight_norm", {weight_norm, nullptr, false}},
      {"_weight_norm_interface", {weight_norm, nullptr, false}},
      {"embedding", {with_dense_gradient<4>, nullptr, false}},
      {"embedding_bag", {with_dense_gradient<5>, nullptr, false}},
      {"embedding_bag.padding_idx", {with_dense_gradient<5>, nullptr, false}},
      {"conv2d", {convolution, nullptr, false}},
      {"lstm.input", {lstm, "train", true}},
      {"gru.input", {with_one_state<kGru>, "train", true}},
      {"rnn_tanh.input", {with_one_state<kTanh>, "train", true}},
      {"rnn_relu.input", {with_one_state<kRelu>, "train", true}},
      {"rand", {rand, nullptr, true}},
      {"randn", {randn, nullptr, true}},
      {"rand_like", {rand_like, nullptr, true}},
      {"randn_like", {randn_like, nullptr, true}},
      {"randint", {randint, nullptr, true}},
      {"randint.low", {randint, nullptr, true}},
      {"randint_like", {randint_like, nullptr, true}},
      {"randint_like.low_dtype", {randint_like, nullptr, true}},
      {"bernoulli", {bernoulli, nullptr, true}},
      {"bernoulli.p", {bernoulli, nullptr, true}},
      {"bernoulli.float", {bernoulli, nullptr, true}},
      {"exponential", {exponential, nullptr, true}},
      {"uniform", {uniform_between, nullptr, true}},
      {"normal_functional", {normal_around, nullptr, true}}};
  return all;
}

const Replacement* replacement_for(const pt2::Call& call) {
  const auto found =
      replacements().find(plain_name(call.op) + (call.overload.empty() ? "" : "." + call.overload));
  return found == replacements().end() ? nullptr : &found->second;
}

// Operators that draw random numbers in some of their overloads. Attention is not one of them: its
// overload without a replacement draws none.
std::set<std::string> random_operators() {
  std::set<std::string> names;
  for (const auto& [name, replacement] : replacements())
    if (replacement.draws && replacement.compute != attention)
      names.insert(name.substr(0, name.find('.')));
  return names;
}

}  // namespace

Special special_for(const pt2::Call& call, Kernels kernels) {
  const Replacement* found = replacement_for(call);
  if (found == nullptr) return nullptr;
  if (kernels == Kernels::kLibtorch && found->compute == convolution) return nullptr;
  if (kernels == Kernels::kLibtorch && found->compute == lstm) return lstm_of_libtorch;
  return found->compute;
}

bool is_computable(const pt2::Call& call) {
  static const std::set<std::string> random = random_operators();
  return !random.contains(std::string(plain_name(call.op))) || special_for(call) != nullptr;
}

bool draws(const pt2::Call& call) {
  const Replacement* found = replacement_for(call);
  return found != nullptr && found->draws;
}

std::optional<bool> is_in_training_mode(const pt2::Call& call) {
  const Replacement* found = replacement_for(call);
  if (found == nullptr || found->mode == nullptr) return std::nullopt;
  const pt2::Argument* mode = argument_of(call, found->mode);
  const bool* value = mode == nullptr ? nullptr : std::get_if<bool>(mode);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

}  // namespace pipedream::imported
