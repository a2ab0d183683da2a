// A network as a graph, without tensors: its layers, the values that they pass to each other, and
// the sizes of the values (docs/glossary.md: layer, value).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ids.h"
#include "core/units.h"

namespace pipedream::graph {

// One output of one layer. It may have any number of consumers.
struct Value {
  LayerId producer;
  std::string name;                 // unique among the producer's outputs
  std::vector<std::int64_t> shape;  // empty if only the size is known
  Bytes bytes;                      // for the whole minibatch
  std::vector<LayerId> consumers;   // ascending
  // True if the value is one of the producer's weights, which the consumers use too
  // (docs/glossary.md: tied weights). Every item carries the whole value, since it has no batch
  // dimension. On the producer's stage it takes no memory besides the weights themselves.
  bool is_weight = false;
};

// The smallest unit that is never split between stages. Input layers (data, labels) compute
// nothing. The stages that use their values read them from the data set, so these values never
// cross a cut.
struct Layer {
  std::string name;  // unique in the graph
  std::string kind;  // description for people, such as "Conv2d(3, 64, kernel 3)"
  bool is_input = false;
  std::vector<ValueId> inputs;   // in the order in which the edges were added
  std::vector<ValueId> outputs;  // in the order in which the outputs were declared
};

// A directed acyclic graph of layers. Immutable, so any thread may read it. Only Builder makes
// graphs, and it guarantees that
//  1. names of layers are unique in the graph, and names of values are unique in their layer;
//  2. order() holds each layer once, and every producer before its consumers;
//  3. a layer takes each value at most once, and input layers take no values.
class Graph {
 public:
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  [[nodiscard]] const Layer& layer(LayerId id) const { return layers_.at(id.index()); }
  [[nodiscard]] const Value& value(ValueId id) const { return values_.at(id.index()); }

  // Returns all layers in topological order. If several layers could come next, the one that was
  // declared first does, so a declaration order that is already topological is kept.
  [[nodiscard]] const std::vector<LayerId>& order() const { return order_; }

  // Returns the layer named `name`, or nullopt if there is none.
  [[nodiscard]] std::optional<LayerId> find(std::string_view name) const;

  // Returns a copy in which value v has `sizes[v]` bytes. Requires one size per value.
  [[nodiscard]] Graph with_sizes(const std::vector<Bytes>& sizes) const;

 private:
  friend class Builder;
  std::vector<Layer> layers_;
  std::vector<Value> values_;
  std::vector<LayerId> order_;
  std::unordered_map<std::string, LayerId> by_name_;
};

// Returns the position in graph.order() of each layer, indexed by LayerId.
[[nodiscard]] std::vector<std::size_t> places_in_order(const Graph& graph);

inline constexpr std::size_t kMostOutputs = 1000;  // most outputs of one layer

// Builds a Graph from layers and edges. They may be added in any order, except that an edge needs
// both of its layers. All functions throw BadValue, which names the layers concerned, if the graph
// would be invalid.
class Builder {
 public:
  struct Output {
    std::string name;
    std::vector<std::int64_t> shape;
    Bytes bytes;
    bool is_weight = false;
  };

  LayerId add_layer(std::string name, std::string kind, std::vector<Output> outputs);
  LayerId add_input(std::string name, std::vector<Output> outputs);

  // Makes output number `output` (from 0) of `producer` the next input of `consumer`.
  void add_edge(LayerId producer, std::size_t output, LayerId consumer);
  // The same by names, as files give them. An empty `output` means the only output of `producer`.
  void add_edge(std::string_view producer, std::string_view output, std::string_view consumer);

  // Checks the graph and sorts its layers. Takes O((layers + edges)·log(layers)) time.
  [[nodiscard]] Graph build() &&;

 private:
  LayerId add(Layer layer, std::vector<Output> outputs);
  [[nodiscard]] LayerId named(std::string_view name) const;
  void sort();

  Graph graph_;
};

}  // namespace pipedream::graph
