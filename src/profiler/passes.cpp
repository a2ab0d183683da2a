#include "profiler/passes.h"

#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "model/memory_meter.h"
#include "model/sample_inputs.h"
#include "profiler/stopwatch.h"

namespace pipedream::profiler {
namespace {

model::Pass pass_of(const Model& model, LayerId layer, std::int64_t minibatch) {
  return {.random = {.seed = model.seed, .layer = layer.value, .minibatch = minibatch}};
}

// A layer in a pass layer by layer. Times are read when the pass is over: an accelerator that had
// to finish each layer before the next is given to it would stand idle in between.
struct Ran {
  model::Tensors inputs;  // leaves of their own, so that autograd stops at the layer's edge
  model::Tensors outputs;
  std::optional<Interval> forward;
  std::optional<Interval> backward;
};

Ran run_forward(Model& model, LayerId id, const Values& values, std::int64_t minibatch) {
  const graph::Layer& layer = model.network.graph.layer(id);
  Ran ran;
  for (const ValueId input : layer.inputs) {
    const bool from_data =
        model.network.graph.layer(model.network.graph.value(input).producer).is_input;
    at::Tensor leaf = values.at(input).detach();
    leaf.set_requires_grad(!from_data);
    ran.inputs.push_back(std::move(leaf));
  }
  Mark start(model.device);
  ran.outputs = model.layers[id.index()]->forward(ran.inputs, pass_of(model, id, minibatch));
  ran.forward.emplace(std::move(start), Mark(model.device));
  return ran;
}

// Sums what the consumers of each output gave back (timed: autograd does it in a whole pass), then
// runs autograd through the layer. Adds the gradients of the inputs to `gradients`.
void run_backward(Model& model, LayerId id, Ran& ran,
                  std::map<ValueId, model::Tensors>& gradients) {
  const graph::Layer& layer = model.network.graph.layer(id);
  Mark start(model.device);
  model::Tensors roots;
  model::Tensors root_gradients;
  for (std::size_t o = 0; o < layer.outputs.size(); ++o) {
    if (!ran.outputs[o].requires_grad()) continue;
    model::Tensors parts = std::move(gradients[layer.outputs[o]]);
    gradients.erase(layer.outputs[o]);
    if (layer.outputs[o] == model.network.loss) parts = {at::ones_like(ran.outputs[o])};
    if (parts.empty()) continue;  // an output that nobody uses
    at::Tensor sum = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
    roots.push_back(ran.outputs[o]);
    root_gradients.push_back(std::move(sum));
  }
  if (!roots.empty()) torch::autograd::backward(roots, root_gradients);
  ran.backward.emplace(std::move(start), Mark(model.device));
  for (std::size_t i = 0; i < ran.inputs.size(); ++i)
    if (ran.inputs[i].grad().defined()) gradients[layer.inputs[i]].push_back(ran.inputs[i].grad());
  ran.inputs.clear();
  ran.outputs.clear();
}

// Drops tensors one by one and says for each whether the graph still holds its memory.
std::vector<bool> kept_by_graph(model::Tensors tensors, const model::MemoryMeter& meter) {
  std::vector<bool> kept;
  for (at::Tensor& tensor : tensors) {
    const auto bytes = static_cast<std::int64_t>(tensor.nbytes());
    const std::int64_t before = meter.live();
    tensor.reset();
    kept.push_back(bytes > 0 && before - meter.live() < bytes);
  }
  return kept;
}

LayerMemory measure_memory(Model& model, LayerId id, Values& values) {
  const graph::Layer& layer = model.network.graph.layer(id);
  // Copies, whose memory nobody else holds; not leaves, which autograd would hold in any case.
  model::Tensors inputs;
  const model::MemoryMeter meter;
  for (const ValueId input : layer.inputs) {
    at::Tensor leaf = values.at(input).detach();
    leaf.set_requires_grad(leaf.is_floating_point());
    inputs.push_back(leaf.clone());
  }
  const std::int64_t before = meter.live();
  model::Tensors outputs = model.layers[id.index()]->forward(inputs, pass_of(model, id, 0));
  const std::int64_t after = meter.live();

  LayerMemory memory;
  std::vector<std::shared_ptr<torch::autograd::Node>> graph;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    memory.outputs.push_back({static_cast<std::int64_t>(outputs[o].nbytes())});
    if (outputs[o].requires_grad()) graph.push_back(outputs[o].grad_fn());
    values[layer.outputs[o]] = outputs[o].detach().clone();
  }
  const std::int64_t with_copies = meter.live();
  outputs.clear();
  const std::int64_t freed = with_copies - meter.live();
  memory.stash = {std::max<std::int64_t>(0, after - before - freed)};
  memory.keeps_input = kept_by_graph(std::move(inputs), meter);
  return memory;
}

}  // namespace

Model::Model(const model::Network& of, at::Device on, std::uint64_t with_seed)
    : network(of), device(on), seed(with_seed) {
  for (std::size_t i = 0; i < of.graph.layers().size(); ++i)
    layers.push_back(of.graph.layers()[i].is_input
                         ? nullptr
                         : model::make_layer(of, id_at<LayerId>(i), seed, device));
}

void Model::clear_gradients() {
  for (const auto& layer : layers) {
    if (layer == nullptr) continue;
    for (at::Tensor parameter : layer->parameters()) parameter.mutable_grad().reset();
  }
}

Values Model::load(std::int64_t minibatch) const {
  Values values;
  for (const model::InputSpec& input : network.inputs)
    values[network.graph.layer(input.layer).outputs[0]] =
        model::sample_input(input, seed, minibatch).to(device);
  return values;
}

std::vector<LayerTime> run_layer_by_layer(Model& model, const Values& inputs,
                                          std::int64_t minibatch) {
  const graph::Graph& graph = model.network.graph;
  std::map<LayerId, Ran> ran;
  Values values = inputs;
  for (const LayerId id : graph.order()) {
    if (graph.layer(id).is_input) continue;
    ran[id] = run_forward(model, id, values, minibatch);
    for (std::size_t o = 0; o < ran[id].outputs.size(); ++o)
      values[graph.layer(id).outputs[o]] = ran[id].outputs[o];
  }
  values.clear();
  std::map<ValueId, model::Tensors> gradients;
  for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) {
    if (graph.layer(*id).is_input) continue;
    run_backward(model, *id, ran[*id], gradients);
  }
  model.clear_gradients();
  std::vector<LayerTime> times(graph.layers().size());
  for (auto& [id, one] : ran) times[id.index()] = {one.forward->length(), one.backward->length()};
  return times;
}

Nanos run_whole(Model& model, const Values& inputs, std::int64_t minibatch) {
  const graph::Graph& graph = model.network.graph;
  Values values = inputs;
  Mark start(model.device);
  for (const LayerId id : graph.order()) {
    const graph::Layer& layer = graph.layer(id);
    if (layer.is_input) continue;
    model::Tensors in;
    for (const ValueId input : layer.inputs) in.push_back(values.at(input));
    model::Tensors out = model.layers[id.index()]->forward(in, pass_of(model, id, minibatch));
    for (std::size_t o = 0; o < out.size(); ++o) values[layer.outputs[o]] = std::move(out[o]);
  }
  at::Tensor loss = values.at(model.network.loss);
  values.clear();
  torch::autograd::backward({loss}, {});
  Interval whole{std::move(start), Mark(model.device)};
  model.clear_gradients();
  return whole.length();
}

std::vector<LayerMemory> run_for_memory(Model& model, const Values& inputs) {
  const graph::Graph& graph = model.network.graph;
  std::vector<LayerMemory> memory(graph.layers().size());
  Values values = inputs;
  for (const auto& [value, tensor] : inputs)
    memory[graph.value(value).producer.index()].outputs = {
        {static_cast<std::int64_t>(tensor.nbytes())}};
  std::vector<std::size_t> uses(graph.values().size());
  for (std::size_t v = 0; v < uses.size(); ++v) uses[v] = graph.values()[v].consumers.size();
  for (const LayerId id : graph.order()) {
    if (graph.layer(id).is_input) continue;
    memory[id.index()] = measure_memory(model, id, values);
    for (const ValueId input : graph.layer(id).inputs)
      if (--uses[input.index()] == 0) values.erase(input);
  }
  return memory;
}

}  // namespace pipedream::profiler
