// A network: its graph and, for every layer, how to make it. It holds no weights, so a worker
// builds just the layers of its own stage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "model/layer.h"

namespace pipedream::model {

// What a network reads from the data set. Dimension 0 is the sample.
struct InputSpec {
  LayerId layer;  // the input layer of the graph, which has one output
  std::string name;
  Shape shape;
  at::ScalarType type = at::kFloat;
  std::int64_t bound = 0;  // integers lie in [0, bound); 0 for real numbers
};

// Immutable once built; safe to share between threads.
struct Network {
  std::string name;
  std::int64_t batch = 0;  // the samples per minibatch for which the graph's sizes hold
  graph::Graph graph;
  std::vector<LayerSpec> specs;  // one per layer of the graph; empty for input layers
  std::vector<InputSpec> inputs;
  ValueId loss;  // a scalar: the mean over the samples of the pass

  [[nodiscard]] const LayerSpec& spec(LayerId layer) const { return specs.at(layer.index()); }
};

// The numbers that are learnt.
[[nodiscard]] std::int64_t parameter_count(const LayerSpec& spec);
[[nodiscard]] std::int64_t parameter_count(const Network& network);
// The memory of a layer's parameters.
[[nodiscard]] Bytes weight_bytes(const LayerSpec& spec);

// The layer with its initial weights, which depend on (seed, layer, parameter) alone.
[[nodiscard]] std::unique_ptr<Layer> make_layer(const Network& network, LayerId layer,
                                                std::uint64_t seed, at::Device device);

}  // namespace pipedream::model
