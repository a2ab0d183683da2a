#include "model/whole_model.h"

#include "core/check.h"
#include "model/sample_inputs.h"

namespace pipedream::model {
namespace {

void add_named(const std::vector<TensorSpec>& specs, const Tensors& tensors,
               std::map<std::string, at::Tensor>& named) {
  for (std::size_t i = 0; i < specs.size(); ++i) named.emplace(specs[i].name, tensors[i]);
}

}  // namespace

WholeModel::WholeModel(const Network& network, at::Device device, std::uint64_t seed,
                       Precision precision)
    : network_(network), device_(device), precision_(precision), seed_(seed) {
  for (std::size_t i = 0; i < network.graph.layers().size(); ++i) {
    const bool is_input = network.graph.layers()[i].is_input;
    layers_.push_back(is_input ? nullptr : make_layer(network, id_at<LayerId>(i), seed, device));
    if (!is_input) lay_out(layers_.back()->parameters(), precision);
  }
}

Pass WholeModel::pass(LayerId layer, std::int64_t minibatch, bool training) const {
  return {.training = training,
          .random = {.seed = seed_, .layer = layer.value, .minibatch = minibatch}};
}

Values WholeModel::sample_inputs(std::int64_t minibatch) const {
  Values values;
  for (const InputSpec& input : network_.inputs) {
    const at::Tensor made =
        make_input_ ? make_input_(input, minibatch) : sample_input(input, seed_, minibatch);
    values[network_.graph.layer(input.layer).outputs[0]] = laid_out(made.to(device_), precision_);
  }
  return values;
}

Values WholeModel::forward(Values inputs, std::int64_t minibatch, bool training) {
  const ComputeIn computing = compute();
  Values values = std::move(inputs);
  for (const LayerId id : network_.graph.order()) {
    const graph::Layer& layer = network_.graph.layer(id);
    if (layer.is_input) continue;
    Tensors in;
    for (const ValueId input : layer.inputs) in.push_back(values.at(input));
    Tensors out = layers_[id.index()]->forward(in, pass(id, minibatch, training));
    PD_CHECK(out.size() == layer.outputs.size());
    for (std::size_t o = 0; o < out.size(); ++o) values[layer.outputs[o]] = std::move(out[o]);
  }
  return values;
}

std::map<std::string, at::Tensor> WholeModel::parameters() const {
  std::map<std::string, at::Tensor> named;
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i] != nullptr)
      add_named(network_.specs[i].parameters, layers_[i]->parameters(), named);
  return named;
}

std::map<std::string, at::Tensor> WholeModel::buffers() const {
  std::map<std::string, at::Tensor> named;
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i] != nullptr) add_named(network_.specs[i].buffers, layers_[i]->buffers(), named);
  return named;
}

void WholeModel::clear_gradients() {
  for (const auto& layer : layers_) {
    if (layer == nullptr) continue;
    for (const at::Tensor& parameter : layer->parameters()) parameter.mutable_grad().reset();
  }
}

}  // namespace pipedream::model
