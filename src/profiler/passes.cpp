#include "profiler/passes.h"

#include <algorithm>
#include <chrono>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include "model/mark.h"
#include "model/memory_meter.h"

namespace pipedream::profiler {

using model::Interval;
using model::Mark;

namespace {

// One layer in a pass layer by layer. Times are read when the pass is over. To read them earlier,
// an accelerator would have to finish each layer before the next is queued, and would stand idle in
// between.
struct Ran {
  model::Tensors inputs;  // leaves of autograd, so that a backward ends at the layer's inputs
  model::Tensors outputs;
  std::optional<Interval> forward;
  std::optional<Interval> backward;
  std::optional<Interval> update;  // none for a layer without weights, or without an update
};

// The inputs of the layer `id`, as leaves of autograd. Those that come from the data set require no
// gradients.
model::Tensors inputs_of(WholeModel& model, LayerId id, const Values& values) {
  const graph::Graph& graph = model.network().graph;
  model::Tensors inputs;
  for (const ValueId input : graph.layer(id).inputs) {
    const bool from_data = graph.layer(graph.value(input).producer).is_input;
    at::Tensor leaf = values.at(input).detach();
    leaf.set_requires_grad(leaf.is_floating_point() && !from_data);
    inputs.push_back(std::move(leaf));
  }
  return inputs;
}

Ran run_forward(WholeModel& model, LayerId id, const Values& values, std::int64_t minibatch) {
  Ran ran;
  ran.inputs = inputs_of(model, id, values);
  Mark start(model.device());
  ran.outputs = model.layer(id).forward(ran.inputs, model.pass(id, minibatch));
  ran.forward.emplace(std::move(start), Mark(model.device()));
  return ran;
}

std::map<LayerId, Ran> run_forwards(WholeModel& model, Values values, std::int64_t minibatch,
                                    Stretches& stretches) {
  const model::ComputeIn computing = model.compute();
  const graph::Graph& graph = model.network().graph;
  std::map<LayerId, Ran> ran;
  for (const LayerId id : graph.order()) {
    if (graph.layer(id).is_input) continue;
    stretches.next_layer();
    ran[id] = run_forward(model, id, values, minibatch);
    for (std::size_t o = 0; o < ran[id].outputs.size(); ++o)
      values[graph.layer(id).outputs[o]] = ran[id].outputs[o];
  }
  return ran;
}

// Runs autograd from `roots`. Adds to the gradients of `parameters`, and returns those of `inputs`;
// an input that requires none has an undefined one. The gradients are returned by autograd rather
// than accumulated in the inputs: accumulating would copy a gradient that goes to two inputs, as
// that of an addition does, which does not happen in a pass of the whole model.
model::Tensors gradients_of(const model::Tensors& roots, const model::Tensors& root_gradients,
                            const model::Tensors& inputs, const model::Tensors& parameters) {
  model::Tensors wanted;
  for (const auto* tensors : {&inputs, &parameters})
    for (const at::Tensor& tensor : *tensors)
      if (tensor.requires_grad()) wanted.push_back(tensor);
  model::Tensors found;
  if (!wanted.empty())
    found = torch::autograd::grad(roots, wanted, root_gradients, /*retain_graph=*/false,
                                  /*create_graph=*/false, /*allow_unused=*/true);
  model::Tensors of_inputs(inputs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].requires_grad()) of_inputs[i] = std::move(found[next++]);
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.requires_grad()) continue;
    at::Tensor& gradient = parameter.mutable_grad();
    at::Tensor& one = found[next++];
    if (!one.defined()) continue;
    if (gradient.defined())
      gradient.add_(one);
    else
      gradient = std::move(one);
  }
  return of_inputs;
}

// Sums the gradients that the consumers of each output returned, then runs autograd through the
// layer. Both are timed, since autograd computes these sums in a pass of the whole model. Appends
// the gradients of the layer's inputs to `gradients`.
void run_backward(WholeModel& model, LayerId id, Ran& ran,
                  std::map<ValueId, model::Tensors>& gradients) {
  const graph::Layer& layer = model.network().graph.layer(id);
  Mark start(model.device());
  model::Tensors roots;
  model::Tensors root_gradients;
  for (std::size_t o = 0; o < layer.outputs.size(); ++o) {
    if (!ran.outputs[o].requires_grad()) continue;
    model::Tensors parts = std::move(gradients[layer.outputs[o]]);
    gradients.erase(layer.outputs[o]);
    if (layer.outputs[o] == model.network().loss) parts = {at::ones_like(ran.outputs[o])};
    if (parts.empty()) continue;  // an output that nobody uses
    at::Tensor sum = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
    roots.push_back(ran.outputs[o]);
    root_gradients.push_back(std::move(sum));
  }
  const model::Tensors of_inputs =
      roots.empty() ? model::Tensors(ran.inputs.size())
                    : gradients_of(roots, root_gradients, ran.inputs, model.layer(id).parameters());
  ran.backward.emplace(std::move(start), Mark(model.device()));
  for (std::size_t i = 0; i < ran.inputs.size(); ++i)
    if (of_inputs[i].defined()) gradients[layer.inputs[i]].push_back(of_inputs[i]);
  ran.inputs.clear();
  ran.outputs.clear();
}

// The updates of those of a layer's weights that have gradients. `first` is the number of the
// layer's first weight in the network.
std::vector<WeightUpdate> updates_of(const model::Tensors& weights, std::size_t first) {
  std::vector<WeightUpdate> updates;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i].grad().defined()) updates.push_back({first + i, weights[i], weights[i].grad()});
  return updates;
}

// Calls one(layer, weights, first) for each layer that has weights, in the order in which training
// updates them. `first` is the number of the layer's first weight in the network.
template <class One>
void for_weights(WholeModel& model, const One& one) {
  std::size_t first = 0;
  for (const LayerId id : model.network().graph.order()) {
    if (model.network().graph.layer(id).is_input) continue;
    const model::Tensors weights = model.layer(id).parameters();
    if (!weights.empty()) one(id, weights, first);
    first += weights.size();
  }
}

std::vector<WeightUpdate> all_updates(WholeModel& model) {
  std::vector<WeightUpdate> all;
  for_weights(model, [&](LayerId, const model::Tensors& weights, std::size_t first) {
    for (WeightUpdate& one : updates_of(weights, first)) all.push_back(std::move(one));
  });
  return all;
}

// Whether `tensor` is one of `others` or a view of one, such as the output of flattening.
bool shares_memory(const at::Tensor& tensor, const model::Tensors& others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const at::Tensor& other) { return other.is_alias_of(tensor); });
}

// Drops `tensors` one by one and returns for each whether autograd's graph still holds its memory.
// This is false for a view of one of `others`, which has no memory of its own.
std::vector<bool> kept_by_graph(model::Tensors tensors, const model::Tensors& others,
                                const model::MemoryMeter& meter) {
  std::vector<bool> kept;
  for (at::Tensor& tensor : tensors) {
    const auto bytes = static_cast<std::int64_t>(tensor.nbytes());
    const bool view = shares_memory(tensor, others);
    const std::int64_t before = meter.live();
    tensor.reset();
    kept.push_back(!view && bytes > 0 && before - meter.live() < bytes);
  }
  return kept;
}

// The outputs of a layer without their memory: their edges in autograd's graph, and what is needed
// to make gradients for them.
struct Ends {
  torch::autograd::edge_list edges;
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<at::TensorOptions> options;

  void add(const at::Tensor& output) {
    edges.push_back(torch::autograd::impl::gradient_edge(output));
    shapes.push_back(output.sizes().vec());
    options.push_back(output.options());
  }
};

// Runs a layer's backward and returns the most bytes that are allocated during it, above those
// allocated before it. Leaves no gradients behind.
std::int64_t peak_of_backward(const Ends& ends, const model::Tensors& weights,
                              model::MemoryMeter& meter) {
  if (ends.edges.empty()) return 0;
  const std::int64_t before = meter.live();
  meter.restart_peak();
  model::Tensors gradients;
  for (std::size_t i = 0; i < ends.edges.size(); ++i)
    gradients.push_back(at::ones(ends.shapes[i], ends.options[i]));
  torch::autograd::Engine::get_default_engine().execute(ends.edges, gradients, /*keep_graph=*/false,
                                                        /*create_graph=*/false,
                                                        /*accumulate_grad=*/true);
  const std::int64_t peak = meter.peak() - before;
  for (const at::Tensor& weight : weights) weight.mutable_grad().reset();
  return peak;
}

model::Tensors forward_of(WholeModel& model, LayerId id, const model::Tensors& inputs) {
  const model::ComputeIn computing = model.compute();
  return model.layer(id).forward(inputs, model.pass(id, 0));
}

LayerMemory measure_memory(WholeModel& model, LayerId id, Values& values) {
  const graph::Layer& layer = model.network().graph.layer(id);
  model::MemoryMeter meter(nullptr, model.device());
  // Copies of the leaves: nobody else holds their memory. They are no leaves themselves, which
  // autograd would hold in any case.
  model::Tensors inputs;
  std::vector<std::int64_t> input_bytes;
  for (const at::Tensor& leaf : inputs_of(model, id, values)) {
    inputs.push_back(leaf.clone());
    input_bytes.push_back(static_cast<std::int64_t>(leaf.nbytes()));
  }
  const std::int64_t before = meter.live();
  meter.restart_peak();
  model::Tensors outputs = forward_of(model, id, inputs);
  const std::int64_t after = meter.live();

  LayerMemory memory;
  std::int64_t stash = after - before;
  std::int64_t in_forward = meter.peak() - before;
  Ends ends;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    memory.outputs.push_back({static_cast<std::int64_t>(outputs[o].nbytes())});
    if (outputs[o].requires_grad()) ends.add(outputs[o]);
    values[layer.outputs[o]] = outputs[o].detach().clone();
  }
  model::Tensors before_it = inputs;  // inputs and weights, allocated before the layer runs
  for (const at::Tensor& weight : model.layer(id).parameters()) before_it.push_back(weight);
  for (const at::Tensor& output : outputs)
    if (!shares_memory(output, before_it)) stash -= static_cast<std::int64_t>(output.nbytes());
  memory.keeps_output = kept_by_graph(std::move(outputs), before_it, meter);
  before_it.clear();
  memory.keeps_input = kept_by_graph(std::move(inputs), {}, meter);
  memory.stash = {std::max<std::int64_t>(0, stash)};

  for (std::size_t i = 0; i < input_bytes.size(); ++i)
    if (!memory.keeps_input[i]) in_forward += input_bytes[i];
  const std::int64_t in_backward = peak_of_backward(ends, model.layer(id).parameters(), meter) -
                                   model::weight_bytes(model.network().spec(id)).count;
  memory.working = {std::max<std::int64_t>(0, in_backward)};
  memory.forward_working = {in_forward};
  return memory;
}

}  // namespace

std::vector<LayerTime> LayerByLayer::run(const Values& inputs, std::int64_t minibatch) {
  const graph::Graph& graph = model_.network().graph;
  stretches_.begin_pass();
  std::map<LayerId, Ran> ran = run_forwards(model_, inputs, minibatch, stretches_);
  std::map<ValueId, model::Tensors> gradients;
  for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) {
    if (graph.layer(*id).is_input) continue;
    stretches_.next_layer();
    run_backward(model_, *id, ran[*id], gradients);
  }
  if (update_)
    for_weights(model_, [&](LayerId id, const model::Tensors& weights, std::size_t first) {
      const at::NoGradGuard no_grad;
      stretches_.next_layer();
      Mark start(model_.device());
      update_(updates_of(weights, first));
      ran[id].update.emplace(std::move(start), Mark(model_.device()));
    });
  stretches_.end_pass();
  std::vector<LayerTime> times(graph.layers().size());
  const auto length = [&](const Interval& interval) {
    return std::max(Nanos(0), interval.length() - stretches_.empty_interval());
  };
  for (const auto& [id, one] : ran)
    times[id.index()] = {length(*one.forward), length(*one.backward),
                         one.update ? length(*one.update) : Nanos(0)};
  return times;
}

Nanos LayerByLayer::run_whole(const Values& inputs, std::int64_t minibatch) {
  stretches_.fill_for_all();
  return profiler::run_whole(model_, inputs, minibatch, update_);
}

Values first_samples(Values inputs, std::int64_t samples) {
  for (auto& [value, tensor] : inputs) tensor = tensor.narrow(0, 0, samples);
  return inputs;
}

void prepare_updates(WholeModel& model, const Update& update) {
  const at::NoGradGuard no_grad;
  for_weights(model, [&](LayerId, const model::Tensors& weights, std::size_t first) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      update({{first + i, weights[i], at::zeros_like(weights[i])}});
  });
}

Nanos run_whole(WholeModel& model, const Values& inputs, std::int64_t minibatch,
                const Update& update) {
  Mark start(model.device());
  const at::Tensor loss = model.forward(inputs, minibatch).at(model.network().loss);
  torch::autograd::backward({loss}, {});
  const at::NoGradGuard no_grad;
  if (update) update(all_updates(model));
  Interval whole{std::move(start), Mark(model.device())};
  model.clear_gradients();
  return whole.length();
}

std::vector<LayerMemory> run_for_memory(WholeModel& model, const Values& inputs,
                                        const std::function<void(double)>& progress) {
  const graph::Graph& graph = model.network().graph;
  std::vector<LayerMemory> memory(graph.layers().size());
  Values values = inputs;
  for (const auto& [value, tensor] : inputs)
    memory[graph.value(value).producer.index()].outputs = {
        {static_cast<std::int64_t>(tensor.nbytes())}};
  std::vector<std::size_t> uses(graph.values().size());
  for (std::size_t v = 0; v < uses.size(); ++v) uses[v] = graph.values()[v].consumers.size();
  std::size_t done = 0;
  for (const LayerId id : graph.order()) {
    progress(static_cast<double>(done++) / static_cast<double>(graph.layers().size()));
    if (graph.layer(id).is_input) continue;
    memory[id.index()] = measure_memory(model, id, values);
    for (const ValueId input : graph.layer(id).inputs)
      if (--uses[input.index()] == 0) values.erase(input);
  }
  return memory;
}

}  // namespace pipedream::profiler
