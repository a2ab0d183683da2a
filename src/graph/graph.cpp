#include "graph/graph.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "core/check.h"
#include "core/error.h"
#include "core/text.h"

namespace pipedream::graph {
namespace {

std::string shown(std::string_view name) { return "'" + printable(name, 80) + "'"; }

// Returns the names of the layers of one cycle. `missing` has, for each layer, how many of its
// inputs have a producer that could not be placed; it is above 0 for layers on and behind a cycle.
// The search follows such producers backwards until a layer comes again.
std::string describe_cycle(const Graph& graph, const std::vector<std::size_t>& missing) {
  const auto first = std::find_if(missing.begin(), missing.end(), [](auto n) { return n > 0; });
  std::vector<LayerId> path{id_at<LayerId>(static_cast<std::size_t>(first - missing.begin()))};
  std::vector<bool> seen(missing.size());
  while (!seen[path.back().index()]) {
    seen[path.back().index()] = true;
    for (const ValueId input : graph.layer(path.back()).inputs) {
      const LayerId producer = graph.value(input).producer;
      if (missing[producer.index()] == 0) continue;
      path.push_back(producer);
      break;
    }
  }
  const auto start = std::find(path.begin(), path.end(), path.back());
  std::string text;
  for (auto layer = path.end() - 1; layer != start; --layer) {
    text += shown(graph.layer(*layer).name) + " → ";
    if (text.size() > 400) return text + "…";
  }
  return text + shown(graph.layer(*start).name);
}

}  // namespace

std::optional<LayerId> Graph::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

Graph Graph::with_sizes(const std::vector<Bytes>& sizes) const {
  PD_CHECK(sizes.size() == values_.size());
  Graph other = *this;
  for (std::size_t v = 0; v < sizes.size(); ++v) other.values_[v].bytes = sizes[v];
  return other;
}

std::vector<std::size_t> places_in_order(const Graph& graph) {
  std::vector<std::size_t> places(graph.layers().size());
  for (std::size_t i = 0; i < graph.order().size(); ++i) places[graph.order()[i].index()] = i;
  return places;
}

LayerId Builder::add_layer(std::string name, std::string kind, std::vector<Output> outputs) {
  return add({.name = std::move(name), .kind = std::move(kind)}, std::move(outputs));
}

LayerId Builder::add_input(std::string name, std::vector<Output> outputs) {
  return add({.name = std::move(name), .kind = "Input", .is_input = true}, std::move(outputs));
}

LayerId Builder::add(Layer layer, std::vector<Output> outputs) {
  if (layer.name.empty()) throw BadValue("a layer has an empty name");
  if (outputs.size() > kMostOutputs)
    throw BadValue("layer " + shown(layer.name) + " has " + std::to_string(outputs.size()) +
                   " outputs, more than " + std::to_string(kMostOutputs));
  const auto id = id_at<LayerId>(graph_.layers_.size());
  if (!graph_.by_name_.emplace(layer.name, id).second)
    throw BadValue("two layers are named " + shown(layer.name));
  for (Output& output : outputs) {
    if (output.name.empty())  // in files, an empty name means the only output
      throw BadValue("layer " + shown(layer.name) + " has an output with an empty name");
    for (const ValueId other : layer.outputs) {
      if (graph_.value(other).name == output.name)
        throw BadValue("layer " + shown(layer.name) + " has two outputs named " +
                       shown(output.name));
    }
    layer.outputs.push_back(id_at<ValueId>(graph_.values_.size()));
    graph_.values_.push_back(
        {id, std::move(output.name), std::move(output.shape), output.bytes, {}, output.is_weight});
  }
  graph_.layers_.push_back(std::move(layer));
  return id;
}

LayerId Builder::named(std::string_view name) const {
  const auto found = graph_.find(name);
  if (!found) throw BadValue("an edge names the layer " + shown(name) + ", which does not exist");
  return *found;
}

void Builder::add_edge(std::string_view producer, std::string_view output,
                       std::string_view consumer) {
  const LayerId from = named(producer);
  const LayerId to = named(consumer);
  const auto& outputs = graph_.layer(from).outputs;
  if (output.empty()) {
    if (outputs.size() != 1)
      throw BadValue("the edge from " + shown(producer) + " to " + shown(consumer) +
                     " must say which of the " + std::to_string(outputs.size()) +
                     " outputs it takes");
    return add_edge(from, 0, to);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (graph_.value(outputs[i]).name == output) return add_edge(from, i, to);
  throw BadValue("layer " + shown(producer) + " has no output named " + shown(output));
}

void Builder::add_edge(LayerId producer, std::size_t output, LayerId consumer) {
  const Layer& from = graph_.layer(producer);
  Layer& to = graph_.layers_.at(consumer.index());
  PD_CHECK(output < from.outputs.size());
  if (to.is_input)
    throw BadValue("an edge leads from " + shown(from.name) + " into the input layer " +
                   shown(to.name));
  to.inputs.push_back(from.outputs[output]);
  graph_.values_[from.outputs[output].index()].consumers.push_back(consumer);
}

Graph Builder::build() && {
  for (Value& value : graph_.values_) {
    auto& consumers = value.consumers;
    std::sort(consumers.begin(), consumers.end());
    const auto twice = std::adjacent_find(consumers.begin(), consumers.end());
    if (twice != consumers.end())
      throw BadValue("there are two edges from " + shown(graph_.layer(value.producer).name) +
                     " to " + shown(graph_.layer(*twice).name));
  }
  sort();
  return std::move(graph_);
}

// Kahn's algorithm. The heap picks the layer that was declared first, so the order depends on the
// declarations alone, not on the order of the edges.
void Builder::sort() {
  std::vector<std::size_t> missing(graph_.layers_.size());  // inputs whose producer is not placed
  std::priority_queue<LayerId, std::vector<LayerId>, std::greater<>> ready;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    missing[i] = graph_.layers_[i].inputs.size();
    if (missing[i] == 0) ready.push(id_at<LayerId>(i));
  }
  while (!ready.empty()) {
    const LayerId layer = ready.top();
    ready.pop();
    graph_.order_.push_back(layer);
    for (const ValueId output : graph_.layer(layer).outputs)
      for (const LayerId consumer : graph_.value(output).consumers)
        if (--missing[consumer.index()] == 0) ready.push(consumer);
  }
  if (graph_.order_.size() != graph_.layers_.size())
    throw BadValue("the layers form a cycle: " + describe_cycle(graph_, missing));
}

}  // namespace pipedream::graph
