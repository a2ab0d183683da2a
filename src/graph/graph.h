// What a network is, without tensors: layers, the values they hand to each other, and their sizes.
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
  std::vector<std::int64_t> shape;  // empty where only the size is known
  Bytes bytes;                      // for the whole minibatch
  std::vector<LayerId> consumers;   // ascending
  // One of the producer's weights, which its consumers use as well (docs/glossary.md: tied
  // weights). All items have the same, whole; where it does not cross, it takes no memory.
  bool is_weight = false;
};

// The smallest unit that is never split. Input layers (data, labels) compute nothing: the stages
// that use their values read them from the data set, so that these values cross no cut.
struct Layer {
  std::string name;  // unique in the graph
  std::string kind;  // for people: "Conv2d(3, 64, kernel 3)"
  bool is_input = false;
  std::vector<ValueId> inputs;   // in the order in which the edges were added
  std::vector<ValueId> outputs;  // in the order in which they were declared
};

// A directed acyclic graph of layers. Immutable: made by Builder alone, which guarantees that
//  1. names of layers are unique, and names of values within their layer;
//  2. order() holds each layer once, every producer before its consumers;
//  3. a layer takes each value at most once, and input layers take none.
class Graph {
 public:
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  [[nodiscard]] const Layer& layer(LayerId id) const { return layers_.at(id.index()); }
  [[nodiscard]] const Value& value(ValueId id) const { return values_.at(id.index()); }

  // All layers, producers first; among layers that are ready the first declared comes first, so a
  // declaration order that is already topological is kept as it is.
  [[nodiscard]] const std::vector<LayerId>& order() const { return order_; }

  [[nodiscard]] std::optional<LayerId> find(std::string_view name) const;

  // The same with other sizes, one per value.
  [[nodiscard]] Graph with_sizes(const std::vector<Bytes>& sizes) const;

 private:
  friend class Builder;
  std::vector<Layer> layers_;
  std::vector<Value> values_;
  std::vector<LayerId> order_;
  std::unordered_map<std::string, LayerId> by_name_;
};

// By layer: its place in order().
[[nodiscard]] std::vector<std::size_t> places_in_order(const Graph& graph);

inline constexpr std::size_t kMostOutputs = 1000;  // of one layer

// Collects layers and edges in any order. All errors are BadValue and name the layers concerned.
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

  // Output number `output` of `producer` becomes the next input of `consumer`.
  void add_edge(LayerId producer, std::size_t output, LayerId consumer);
  // By names, as files give them; an empty `output` means the producer's only one.
  void add_edge(std::string_view producer, std::string_view output, std::string_view consumer);

  // Checks the whole and orders it, in time linear in layers and edges (times the heap's
  // logarithm).
  [[nodiscard]] Graph build() &&;

 private:
  LayerId add(Layer layer, std::vector<Output> outputs);
  [[nodiscard]] LayerId named(std::string_view name) const;
  void sort();

  Graph graph_;
};

}  // namespace pipedream::graph
