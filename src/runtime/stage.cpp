#include "runtime/stage.h"

#include <algorithm>

#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/check.h"
#include "core/error.h"
#include "graph/cut.h"

namespace pipedream::runtime {

Stage::Stage(const model::Network& network, const plan::Plan& plan, StageId id, std::uint64_t seed,
             at::Device device)
    : network_(network), seed_(seed), order_(plan.stage(id).layers) {
  const auto stage_of = plan::stage_of_each_layer(plan, network.graph);
  for (const graph::Transfer& t : graph::transfers_between(network.graph, stage_of)) {
    if (t.to == id) taken_.push_back(t.value);
    if (t.from != id) continue;
    if (!given_.empty() && given_.back() == t.value)
      throw CannotMeet("the output of layer '" +
                       network.graph.layer(network.graph.value(t.value).producer).name +
                       "' is used by two other stages, which the runtime cannot do yet");
    given_.push_back(t.value);
  }
  for (const model::InputSpec& input : network.inputs) {
    const ValueId value = network.graph.layer(input.layer).outputs[0];
    const auto& users = network.graph.value(value).consumers;
    if (std::any_of(users.begin(), users.end(),
                    [&](LayerId user) { return stage_of[user.index()] == id; }))
      loaded_.push_back(value);
  }
  computes_loss_ = stage_of[network.graph.value(network.loss).producer.index()] == id;

  model::Tensors parameters;
  for (const LayerId layer : order_) {
    layers_.push_back(model::make_layer(network, layer, seed, device));
    for (const at::Tensor& parameter : layers_.back()->parameters())
      parameters.push_back(parameter);
  }
  weights_ = std::make_unique<WeightStore>(std::move(parameters));
}

Values Stage::forward(const schedule::Item& item, WeightVersion weights, const Values& inputs) {
  weights_->activate(weights);
  weights_->acquire(weights);
  InFlight kept;
  Values values = inputs;
  for (const ValueId taken : taken_) {
    at::Tensor leaf = inputs.at(taken).detach();
    leaf.set_requires_grad(leaf.is_floating_point());
    kept.inputs[taken] = values[taken] = leaf;
  }
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const graph::Layer& layer = network_.graph.layer(order_[i]);
    model::Tensors in;
    for (const ValueId input : layer.inputs) in.push_back(values.at(input));
    const model::Pass pass{.random = {.seed = seed_,
                                      .layer = order_[i].value,
                                      .minibatch = item.minibatch,
                                      .microbatch = item.microbatch}};
    model::Tensors out = layers_[i]->forward(in, pass);
    PD_CHECK(out.size() == layer.outputs.size());
    for (std::size_t o = 0; o < layer.outputs.size(); ++o)
      values[layer.outputs[o]] = std::move(out.at(o));
  }
  for (const ValueId given : given_) kept.outputs[given] = values.at(given);
  if (computes_loss_) kept.outputs[network_.loss] = values.at(network_.loss);
  Values results;
  for (const auto& [value, tensor] : kept.outputs) results[value] = tensor.detach();
  PD_CHECK(in_flight_.emplace(item, std::move(kept)).second);
  peak_items_ = std::max(peak_items_, in_flight_.size());
  return results;
}

Values Stage::backward(const schedule::Item& item, WeightVersion weights, const Values& gradients) {
  const auto found = in_flight_.find(item);
  PD_CHECK(found != in_flight_.end());
  InFlight kept = std::move(found->second);
  in_flight_.erase(found);

  model::Tensors roots;
  model::Tensors root_gradients;
  for (const auto& [value, tensor] : kept.outputs) {
    if (!tensor.requires_grad()) continue;  // nothing before it learns
    roots.push_back(tensor);
    root_gradients.push_back(value == network_.loss ? at::ones_like(tensor) : gradients.at(value));
  }
  // Convolutions look at the parameter itself when they run backward, so it must show the weights
  // of the forward again.
  weights_->activate(weights);
  if (!roots.empty()) torch::autograd::backward(roots, root_gradients);
  weights_->release(weights);

  Values results;
  for (const ValueId taken : taken_) {
    const at::Tensor& input = kept.inputs.at(taken);
    results[taken] = input.grad().defined() ? input.grad() : at::zeros_like(input);
  }
  return results;
}

}  // namespace pipedream::runtime
