#include "runtime/stage.h"

#include <algorithm>
#include <set>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include "core/check.h"
#include "model/padding.h"
#include "runtime/fan_out.h"

namespace pipedream::runtime {
namespace {

// Added to the microbatch number of random keys, times the replica's index: replicas that share an
// item must not draw the same random numbers for different samples.
constexpr std::int32_t kReplicaStride = 1 << 20;

// Accumulates gradients in the `grad` of all parameters and leaves that `roots` depend on, or, if
// `only` is not empty, of those in `only`.
void run_autograd(const torch::autograd::edge_list& roots, const model::Tensors& gradients,
                  bool keep_graph, const torch::autograd::edge_list& only = {}) {
  if (roots.empty()) return;
  torch::autograd::Engine::get_default_engine().execute(roots, gradients, keep_graph,
                                                        /*create_graph=*/false,
                                                        /*accumulate_grad=*/true, only);
}

torch::autograd::edge_list edges_of(const model::Tensors& leaves) {
  torch::autograd::edge_list edges;
  for (const at::Tensor& leaf : leaves)
    if (leaf.requires_grad()) edges.push_back(torch::autograd::impl::gradient_edge(leaf));
  return edges;
}

// Whether accuracy can be computed from the inputs of the loss, `read`: they must be scores
// [N, …, classes] and labels [N, …].
bool predicts_labels(const model::Tensors& read) {
  if (read.size() != 2 || at::isFloatingType(read[1].scalar_type())) return false;
  return read[0].dim() == read[1].dim() + 1 &&
         read[0].sizes().slice(0, read[1].dim()) == read[1].sizes();
}

// `read` has the inputs of the layer that computed `loss`, and `has_padding` says whether labels
// may be padding.
Score score_of(const at::Tensor& loss, const model::Tensors& read, bool has_padding,
               std::int64_t samples) {
  Score score;
  score.samples = samples;
  score.loss = loss.item<double>() * static_cast<double>(score.samples);
  if (!predicts_labels(read)) return score;
  if (has_padding) score.padding = read[1].eq(model::kPaddingLabel).sum().item<std::int64_t>();
  score.predictions = read[1].numel() - score.padding;
  score.right = read[0].argmax(-1).eq(read[1]).sum().item<std::int64_t>();
  constexpr std::int64_t kFive = 5;
  if (read[1].dim() != 1 || read[0].size(1) <= kFive) return score;
  const at::Tensor own = read[0].gather(1, read[1].to(at::kLong).unsqueeze(1));
  score.ranked = score.predictions;
  score.in_five = read[0].gt(own).sum(1).lt(kFive).sum().item<std::int64_t>();
  return score;
}

}  // namespace

Stage::Stage(const model::Network& network, const schedule::Routes& routes,
             const GradientOrder& order, StageId id, const StageOptions& options)
    : network_(network),
      id_(id),
      options_(options),
      recomputes_(routes.plan().stage(id).recompute),
      order_of_sums_(order),
      order_(routes.plan().stage(id).layers) {
  model::Tensors parameters;
  for (const LayerId layer : order_) {
    layers_.push_back(model::make_layer(network, layer, options.seed, options.device));
    model::lay_out(layers_.back()->parameters(), options.precision);
    for (const at::Tensor& parameter : layers_.back()->parameters())
      parameters.push_back(parameter);
  }
  weights_ = std::make_unique<WeightStore>(std::move(parameters));
  wire(routes);
}

void Stage::wire(const schedule::Routes& routes) {
  for (const graph::Transfer& t : routes.transfers()) {
    if (t.to == id_) taken_.push_back(t.value);
    if (t.from == id_ && (given_.empty() || given_.back() != t.value)) given_.push_back(t.value);
  }
  const std::set<LayerId> own(order_.begin(), order_.end());
  for (const model::InputSpec& input : network_.inputs) {
    const auto& users =
        network_.graph.value(network_.graph.layer(input.layer).outputs[0]).consumers;
    if (std::any_of(users.begin(), users.end(), [&](LayerId user) { return own.contains(user); }))
      loaded_.push_back(input);
  }
  const LayerId loss_layer = network_.graph.value(network_.loss).producer;
  computes_loss_ = own.contains(loss_layer);
  std::map<Name, std::size_t> last;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    wires_.emplace_back();
    for (const ValueId input : network_.graph.layer(order_[i]).inputs) {
      wires_[i].push_back(name_for(input, order_[i]));
      // The inputs of the loss are needed until the end, because score_of() reads them.
      last[wires_[i].back()] = order_[i] == loss_layer ? order_.size() : i;
    }
  }
  last_users_.resize(order_.size() + 1);
  for (const auto& [name, layer] : last)
    if (!std::binary_search(given_.begin(), given_.end(), name.first) &&
        name.first != network_.loss)
      last_users_[layer].push_back(name);
}

Stage::Name Stage::name_for(ValueId value, LayerId layer) const {
  const bool taken = std::binary_search(taken_.begin(), taken_.end(), value);
  if (!taken && !order_of_sums_.is_mixed(value)) return {value, 0};
  std::size_t name = 0;
  for (const GradientOrder::Term& term : order_of_sums_.terms(value)) {
    if (std::find(term.layers.begin(), term.layers.end(), layer) != term.layers.end()) break;
    if (!taken || term.stage == id_) ++name;
  }
  return {value, name};
}

void Stage::begin(const schedule::Rules& rules, std::int64_t first) {
  PD_CHECK(in_flight_.empty());
  weights_->begin(rules);
  first_ = first;
}

void Stage::add_leaves(const Values& inputs, Names& names, InFlight& kept) const {
  for (const auto& [value, tensor] : inputs) {
    if (!std::binary_search(taken_.begin(), taken_.end(), value)) {
      names[{value, 0}] = model::laid_out(tensor, options_.precision);
      continue;
    }
    for (std::size_t i = 0; i < order_of_sums_.terms_from(value, id_); ++i) {
      at::Tensor leaf = tensor.detach();
      leaf.set_requires_grad(leaf.is_floating_point());
      kept.leaves[{value, i}] = names[{value, i}] = leaf;
    }
  }
}

std::size_t Stage::names_of(ValueId value) const {
  return order_of_sums_.is_mixed(value) ? order_of_sums_.terms(value).size() : 1;
}

void Stage::add_names(ValueId value, const at::Tensor& tensor, Names& names) const {
  if (!order_of_sums_.is_mixed(value) || !tensor.requires_grad()) {
    for (std::size_t i = 0; i < names_of(value); ++i) names[{value, i}] = tensor;
    return;
  }
  const model::Tensors apart = fan_out(tensor, names_of(value));
  for (std::size_t i = 0; i < apart.size(); ++i) names[{value, i}] = apart[i];
}

void Stage::run_layers(const schedule::Item& item, Mode mode, Names& names) {
  const model::ComputeIn compute(options_.precision, options_.device.type());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const graph::Layer& layer = network_.graph.layer(order_[i]);
    model::Tensors in;
    for (const Name& name : wires_[i]) in.push_back(names.at(name));
    const model::Pass pass{
        .training = mode.training,
        .update_statistics = mode.update_statistics,
        .will_be_repeated = mode.will_be_repeated,
        .random = {.seed = options_.seed,
                   .layer = order_[i].value,
                   .minibatch = first_ + item.minibatch,
                   .microbatch = item.microbatch + options_.replica * kReplicaStride}};
    const model::Tensors out = layers_[i]->forward(in, pass);
    PD_CHECK(out.size() == layer.outputs.size());
    for (std::size_t o = 0; o < out.size(); ++o) add_names(layer.outputs[o], out[o], names);
    for (const Name& name : last_users_[i]) names.erase(name);
  }
}

Values Stage::made_of(const Names& names) const {
  Values made;
  for (const ValueId value : given_) {
    at::Tensor& tensor = made[value] = names.at({value, 0}).detach();
    // Another stage may still read these weights when an update writes over them here.
    if (network_.graph.value(value).is_weight) tensor = tensor.clone();
  }
  if (computes_loss_) made[network_.loss] = names.at({network_.loss, 0}).detach();
  return made;
}

void Stage::keep_ends(const Names& names, InFlight& kept) const {
  const auto keep = [&](const Name& name) {
    const at::Tensor& tensor = names.at(name);
    if (tensor.requires_grad()) kept.ends[name] = torch::autograd::impl::gradient_edge(tensor);
  };
  for (const ValueId value : given_)
    for (std::size_t i = 0; i < names_of(value); ++i) keep({value, i});
  if (computes_loss_) keep({network_.loss, 0});
}

Values Stage::forward(const schedule::Item& item, WeightVersion weights, const Values& inputs) {
  weights_->activate(weights);
  weights_->acquire(weights);
  InFlight kept;
  Names names;
  // Autograd is on even if the stage recomputes and this graph is thrown away: without autograd
  // some operations (oneDNN's LSTM) choose other kernels, so the recomputation would give different
  // bits.
  add_leaves(inputs, names, kept);
  run_layers(item, {.will_be_repeated = recomputes_}, names);
  if (recomputes_) {
    kept = {};
    kept.inputs = inputs;
  } else {
    keep_ends(names, kept);
  }
  PD_CHECK(in_flight_.emplace(item, std::move(kept)).second);
  peak_items_ = std::max(peak_items_, in_flight_.size());
  return made_of(names);
}

void Stage::recompute(const schedule::Item& item, WeightVersion weights) {
  const auto found = in_flight_.find(item);
  PD_CHECK(found != in_flight_.end());
  weights_->activate(weights);
  Names names;
  const Values inputs = std::move(found->second.inputs);
  add_leaves(inputs, names, found->second);
  run_layers(item, {.update_statistics = false}, names);
  keep_ends(names, found->second);
}

Values Stage::evaluate(const schedule::Item& item, std::int64_t samples, const Values& inputs,
                       Score& score) {
  const at::NoGradGuard no_grad;
  weights_->activate(weights_->newest());
  Names names;
  InFlight unused;
  add_leaves(inputs, names, unused);
  run_layers(item, {.training = false}, names);
  if (computes_loss_) {
    const LayerId loss_layer = network_.graph.value(network_.loss).producer;
    const auto place = std::find(order_.begin(), order_.end(), loss_layer) - order_.begin();
    model::Tensors read;
    for (const Name& name : wires_[static_cast<std::size_t>(place)]) read.push_back(names.at(name));
    score +=
        score_of(names.at({network_.loss, 0}), read, network_.label_rules.ignores_padding, samples);
  }
  return made_of(names);
}

void Stage::find_roots(const Gradients& gradients, double loss_weight, InFlight& kept) const {
  const auto add = [&](const Name& name, const at::Tensor& gradient) {
    const auto end = kept.ends.find(name);
    if (end == kept.ends.end()) return;  // the value does not require a gradient
    kept.roots.push_back(end->second);
    kept.root_gradients.push_back(gradient);
  };
  for (const ValueId value : given_) {
    const auto& terms = order_of_sums_.terms(value);
    std::map<StageId, std::int64_t> seen;
    at::Tensor sum;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const StageId stage = terms[t].stage;
      if (stage == id_) continue;
      const at::Tensor& from_stage = gradients.at({value, stage});
      if (from_stage.numel() == 0) continue;  // tied weights: the gradient went to another replica
      const at::Tensor term = order_of_sums_.terms_from(value, stage) == 1
                                  ? from_stage
                                  : from_stage.select(0, seen[stage]++);
      if (order_of_sums_.is_mixed(value))
        add({value, t}, term);
      else
        sum = sum.defined() ? sum + term : term;
    }
    if (sum.defined()) add({value, 0}, sum);
  }
  if (!computes_loss_) return;
  add({network_.loss, 0}, at::full({}, loss_weight, at::TensorOptions().device(options_.device)));
}

at::Tensor Stage::gradient_of(ValueId taken, const InFlight& kept) const {
  model::Tensors apart;
  for (std::size_t i = 0; i < order_of_sums_.terms_from(taken, id_); ++i) {
    const at::Tensor& leaf = kept.leaves.at({taken, i});
    apart.push_back(leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf));
  }
  return apart.size() == 1 ? apart[0] : at::stack(apart);
}

Values Stage::backward(const schedule::Backward& op, const Gradients& gradients,
                       double loss_weight) {
  const auto found = in_flight_.find(op.item);
  PD_CHECK(found != in_flight_.end());
  InFlight& kept = found->second;
  // Convolutions read the parameter again when they run backward, so it must point at the weights
  // of the forward.
  weights_->activate(op.weights);
  if (op.part != schedule::BackwardPart::kWeight) find_roots(gradients, loss_weight, kept);
  Values results;
  if (op.part == schedule::BackwardPart::kInput) {
    model::Tensors leaves;
    for (const auto& [name, leaf] : kept.leaves) leaves.push_back(leaf);
    const auto wanted = edges_of(leaves);
    if (!wanted.empty()) run_autograd(kept.roots, kept.root_gradients, true, wanted);
  } else if (op.part == schedule::BackwardPart::kWeight) {
    const auto wanted = edges_of(weights_->parameters());
    if (!wanted.empty()) run_autograd(kept.roots, kept.root_gradients, false, wanted);
  } else {
    run_autograd(kept.roots, kept.root_gradients, false);
  }
  if (op.part != schedule::BackwardPart::kWeight)
    for (const ValueId taken : taken_) results[taken] = gradient_of(taken, kept);
  if (op.part != schedule::BackwardPart::kInput) {
    in_flight_.erase(found);
    weights_->release(op.weights);
  }
  return results;
}

BucketLayout Stage::bucket_layout(const BucketSizes& sizes) const {
  std::vector<std::size_t> per_layer;
  for (const auto& layer : layers_) per_layer.push_back(layer->parameters().size());
  return {weights_->parameters(), per_layer, sizes};
}

std::vector<std::string> Stage::parameter_names() const {
  std::vector<std::string> names;
  for (const LayerId layer : order_)
    for (const model::TensorSpec& spec : network_.spec(layer).parameters)
      names.push_back(spec.name);
  return names;
}

std::map<std::string, at::Tensor> Stage::buffers() const {
  std::map<std::string, at::Tensor> named;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto& specs = network_.spec(order_[i]).buffers;
    for (std::size_t b = 0; b < specs.size(); ++b) named[specs[b].name] = layers_[i]->buffers()[b];
  }
  return named;
}

std::vector<std::pair<std::string, at::Tensor>> Stage::copies() const {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto& specs = network_.spec(order_[i]).copies;
    for (std::size_t c = 0; c < specs.size(); ++c)
      named.emplace_back(specs[c].name, layers_[i]->copies()[c]);
  }
  return named;
}

}  // namespace pipedream::runtime
