// Builder of the public header (docs/library.md, a network). Layers are run on trial when they are
// added (library/trial.h); build() joins them to a graph.
#include <algorithm>
#include <map>
#include <set>

#include "core/nearest.h"
#include "core/text.h"
#include "library/handles.h"
#include "library/module_layer.h"
#include "library/trial.h"
#include "runtime/failure.h"

namespace pipedream {
inline namespace v1 {
namespace {

using library::Node;
using library::refuse;
using library::Source;
using library::text_of;

}  // namespace

struct Builder::Impl {
  std::string name;         // of the network
  std::vector<Node> nodes;  // in the order in which they were added

  // The node that `value` comes from. Throws BadUsage if the value is not of this builder; `who`
  // says in the message which value is meant.
  const Node& node_of(const Value& value, const std::string& who) const {
    if (value.owner_ != this) throw BadUsage(who + " is no value of the network '" + name + "'");
    return nodes.at(value.layer_);
  }
  static Source source_of(const Value& value) {
    return {value.layer_, value.is_weight_, value.number_};
  }
  Value value(std::size_t layer, std::size_t number = 0, bool is_weight = false) const {
    Value made;
    made.owner_ = this;
    made.layer_ = layer;
    made.number_ = number;
    made.is_weight_ = is_weight;
    return made;
  }
  void check_name(const std::string& wanted) const {
    if (wanted.empty()) throw BadUsage("a layer of the network '" + name + "' has no name");
    for (const Node& node : nodes)
      if (node.name == wanted)
        throw BadUsage("there are two layers '" + printable(wanted) + "' in the network '" + name +
                       "'");
  }
  Value add(Node node) {
    nodes.push_back(std::move(node));
    return value(nodes.size() - 1);
  }

  // Throws BadUsage unless the loss is a scalar, every node is used, names of tensors are unique
  // and the network has a parameter.
  void check_whole(const Source& loss) const;
  // `inputs` are the different sources of `node`: the inputs of its layer in the graph, in order.
  std::shared_ptr<library::Blueprint> blueprint_of(const Node& node, const Source& loss,
                                                   const std::vector<Source>& inputs) const;
};

Builder::Builder(std::string name) : impl_(std::make_unique<Impl>()) {
  impl_->name = std::move(name);
}
Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

Value Builder::input(const std::string& name, std::vector<std::int64_t> shape,
                     torch::ScalarType type, std::int64_t bound) {
  impl_->check_name(name);
  const std::string who = "input '" + printable(name) + "': ";
  for (const std::int64_t side : shape)
    if (side < 1) throw BadUsage(who + "wanted sides from 1 on, found " + std::to_string(side));
  const bool is_whole = at::isIntegralType(type, /*includeBool=*/true);
  if (!is_whole && !at::isFloatingType(type))
    throw BadUsage(who + "wanted a type of floating or whole numbers, found " +
                   c10::toString(type));
  if (type == at::kBool) bound = 2;
  if (is_whole && bound < 1)
    throw BadUsage(who + "whole numbers need the bound that they lie below");
  Node node;
  node.name = name;
  node.is_input = true;
  node.input = {
      .name = name, .shape = std::move(shape), .type = type, .bound = is_whole ? bound : 0};
  try {
    library::try_input(node);
  } catch (...) {  // such as libtorch's exception for a shape that is too large
    runtime::rethrow_at(who);
  }
  return impl_->add(std::move(node));
}

Value Builder::add_layer(const std::string& name, detail::Recipe recipe,
                         const std::vector<Value>& inputs) {
  impl_->check_name(name);
  Node node;
  node.name = name;
  node.recipe = std::move(recipe);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    (void)impl_->node_of(inputs[i],
                         "layer '" + printable(name) + "': its input " + std::to_string(i));
    node.sources.push_back(Impl::source_of(inputs[i]));
  }
  if (std::all_of(node.sources.begin(), node.sources.end(),
                  [](const Source& source) { return source.is_weight; }))
    refuse(name, "it reads no value that has samples");
  library::try_layer(impl_->nodes, node);
  for (const Source& source : node.sources) {
    Node& of = impl_->nodes[source.node];
    (source.is_weight ? of.shared : of.used).insert(source.number);
  }
  return impl_->add(std::move(node));
}

Value Builder::output(const Value& of, std::size_t number) const {
  const Node& node = impl_->node_of(of, "what output() was given");
  if (number >= node.results[0].size())
    refuse(node.name, "it has " + std::to_string(node.results[0].size()) + " outputs, and number " +
                          std::to_string(number) + " was asked for");
  return impl_->value(of.layer_, number);
}

Value Builder::weight(const Value& of, const std::string& parameter) {
  const Node& node = impl_->node_of(of, "what weight() was given");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < node.parameters.size(); ++i) {
    if (node.parameters[i].name == parameter) return impl_->value(of.layer_, i, true);
    names.push_back(node.parameters[i].name);
  }
  refuse(node.name,
         "it has no parameter '" + printable(parameter) + "'" + suggestion(parameter, names));
}

void Builder::Impl::check_whole(const Source& loss) const {
  if (loss.is_weight || !library::is_number(nodes[loss.node], loss.number))
    throw BadUsage("the loss of the network '" + name + "' must be one Float number, found " +
                   (loss.is_weight
                        ? text_of(nodes, loss)
                        : "'" + nodes[loss.node].name + "' " +
                              library::type_text(nodes[loss.node].results[0][loss.number])));
  std::map<std::string, std::string> owners;  // tensor's full name -> layer's name
  bool learns = false;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    if (node.used.empty() && node.shared.empty() && n != loss.node)
      throw BadUsage((node.is_input ? "input '" : "layer '") + node.name +
                     "' leads nowhere: no layer uses it");
    learns |= !node.parameters.empty();
    for (const auto* specs : {&node.parameters, &node.buffers})
      for (const model::TensorSpec& spec : *specs) {
        const auto [found, fresh] = owners.emplace(node.name + "." + spec.name, node.name);
        if (!fresh)
          throw BadUsage("layers '" + found->second + "' and '" + node.name +
                         "' both have a tensor '" + found->first + "': rename one of them");
      }
  }
  if (!learns) throw BadUsage("the network '" + name + "' has no weights to learn");
}

std::shared_ptr<library::Blueprint> Builder::Impl::blueprint_of(
    const Node& node, const Source& loss, const std::vector<Source>& inputs) const {
  auto made = std::make_shared<library::Blueprint>();
  made->name = node.name;
  made->recipe = node.recipe;
  for (const Source& source : node.sources)
    made->arguments.push_back(
        static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), source) - inputs.begin()));
  while (inputs[made->sampled].is_weight) ++made->sampled;
  made->results = node.results[0].size();
  std::set<std::size_t> outputs = node.used;
  const bool has_loss = &node == &nodes[loss.node];
  if (has_loss) outputs.insert(loss.number);
  made->outputs.assign(outputs.begin(), outputs.end());
  for (const std::size_t output : made->outputs) {
    const bool is_loss = has_loss && output == loss.number;
    made->is_loss.push_back(is_loss);
    made->types.push_back(is_loss ? model::TensorType{} : *library::type_of(node, output));
  }
  for (const model::TensorSpec& spec : node.parameters) made->parameters.push_back(spec.name);
  for (const model::TensorSpec& spec : node.buffers) made->buffers.push_back(spec.name);
  made->shared.assign(node.shared.begin(), node.shared.end());
  made->draws = node.draws;
  return made;
}

namespace {

// The type of a value for a whole minibatch, from its type for one sample.
model::TensorType for_batch(model::TensorType of_sample, std::int64_t batch) {
  of_sample.shape.insert(of_sample.shape.begin(), batch);
  return of_sample;
}

// The layer's outputs in the network: first the results that other layers use or that are the loss,
// then the parameters that other layers share.
std::vector<model::OutputSpec> outputs_of(const Node& node, const library::Blueprint& made,
                                          std::int64_t batch) {
  std::vector<model::OutputSpec> outputs;
  for (std::size_t i = 0; i < made.outputs.size(); ++i)
    outputs.push_back({"out" + std::to_string(made.outputs[i]),
                       made.is_loss[i] ? made.types[i] : for_batch(made.types[i], batch)});
  for (const std::size_t parameter : made.shared) {
    const model::TensorSpec& spec = node.parameters[parameter];
    outputs.push_back({spec.name, {spec.shape, spec.type}, /*is_weight=*/true});
  }
  return outputs;
}

// Where `source` is in the network. `blueprints` has one entry per layer so far, null for inputs.
model::OutputPlace place_of(
    const Source& source,
    const std::vector<std::shared_ptr<const library::Blueprint>>& blueprints) {
  const LayerId layer = id_at<LayerId>(source.node);
  const auto& of = blueprints[source.node];
  if (!of) return {layer, 0};
  const auto& list = source.is_weight ? of->shared : of->outputs;
  const auto place = std::find(list.begin(), list.end(), source.number) - list.begin();
  return {layer, static_cast<std::size_t>(place) + (source.is_weight ? of->outputs.size() : 0)};
}

// The spec of a layer with `inputs` inputs.
model::LayerSpec spec_of(const Node& node,
                         const std::shared_ptr<const library::Blueprint>& blueprint,
                         std::size_t inputs) {
  model::LayerSpec spec;
  for (std::size_t i = 0; i < inputs; ++i) spec.inputs.push_back("in" + std::to_string(i));
  spec.parameters = node.parameters;
  spec.buffers = node.buffers;
  library::use(blueprint, spec);
  return spec;
}

}  // namespace

Network Builder::build(const Value& loss, std::int64_t batch) const {
  (void)impl_->node_of(loss, "the loss");
  const Source of_loss = Impl::source_of(loss);
  impl_->check_whole(of_loss);
  library::check_batch(impl_->name, batch);
  // One per layer of the graph, null for input layers.
  std::vector<std::shared_ptr<const library::Blueprint>> blueprints;
  model::Assembly assembly(impl_->name, batch);
  for (const Node& node : impl_->nodes) {
    if (node.is_input) {
      (void)assembly.add_input(node.name, for_batch({node.input.shape, node.input.type}, batch),
                               node.input.bound);
      blueprints.push_back(nullptr);
      continue;
    }
    std::vector<Source> inputs;  // without duplicates: a graph's layer takes each value once
    for (const Source& source : node.sources)
      if (std::find(inputs.begin(), inputs.end(), source) == inputs.end()) inputs.push_back(source);
    std::vector<model::OutputPlace> places;
    for (const Source& source : inputs) places.push_back(place_of(source, blueprints));
    const auto blueprint = impl_->blueprint_of(node, of_loss, inputs);
    (void)assembly.add_layer(node.name, node.kind, /*prefix=*/node.name,
                             outputs_of(node, *blueprint, batch), places,
                             spec_of(node, blueprint, inputs.size()));
    blueprints.push_back(blueprint);
  }
  return Network(std::make_shared<Network::Impl>(
      Network::Impl{std::move(assembly).build(place_of(of_loss, blueprints))}));
}

}  // namespace v1
}  // namespace pipedream
