// A network: its graph and, for every layer, how to make it (ARCHITECTURE.md, Layers). It holds no
// weights, so a worker builds just the layers of its own stage.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "model/layer.h"

namespace pipedream::model {

// One input that a network reads from the data set. Dimension 0 of `shape` counts the samples.
struct InputSpec {
  LayerId layer;  // the input layer of the graph, which has one output
  std::string name;
  Shape shape;
  at::ScalarType type = at::kFloat;
  std::int64_t bound = 0;  // integers lie in [0, `bound`); 0 for real numbers
};

// What a network's loss does with the labels, if it is cross_entropy() (model/blocks.h).
struct LabelRules {
  double smoothing = 0;          // share of each label that training spreads over all classes
  bool ignores_padding = false;  // labels of kPaddingLabel (model/padding.h) count for nothing
};

// Immutable once built; safe to share between threads.
struct Network {
  std::string name;
  std::int64_t batch = 0;  // samples per minibatch, on which the graph's sizes are based
  graph::Graph graph;
  std::vector<LayerSpec> specs;  // one per layer of the graph; input layers have empty ones
  std::vector<InputSpec> inputs;
  ValueId loss;  // a scalar: the mean over the samples of the pass
  // The options that the network was made with, as text; empty for networks without options.
  std::map<std::string, std::string> options;
  // Facts about the computation that its weights do not show, such as the form of GELU.
  std::map<std::string, std::string> facts;
  // Second names of tied weights, as a PyTorch model has them: name → name of the parameter. Files
  // of weights have both.
  std::map<std::string, std::string> second_names;
  // Buffers that a PyTorch model does not keep in its state dict. Checkpoints have them, and files
  // of weights do not.
  std::set<std::string> not_in_state_dict;
  // True if the network computes minibatches of exactly `batch` samples, and no smaller ones. Then
  // minibatches are not cut, and a short last one is left out.
  bool has_fixed_batch = false;
  LabelRules label_rules;  // of the loss; set_label_rules() changes them

  [[nodiscard]] const LayerSpec& spec(LayerId layer) const { return specs.at(layer.index()); }
};

// The number of trainable values, of one layer or of all. Tied weights count once, for the layer
// that owns them.
[[nodiscard]] std::int64_t parameter_count(const LayerSpec& spec);
[[nodiscard]] std::int64_t parameter_count(const Network& network);
// The memory of a layer's parameters; buffers are not counted.
[[nodiscard]] Bytes weight_bytes(const LayerSpec& spec);
// The memory of all parameters and buffers of the network.
[[nodiscard]] Bytes state_bytes(const Network& network);

// Makes a layer with its initial weights, which depend on (`seed`, `layer`, parameter) alone.
// Requires that `layer` is not an input layer.
[[nodiscard]] std::unique_ptr<Layer> make_layer(const Network& network, LayerId layer,
                                                std::uint64_t seed, at::Device device);

}  // namespace pipedream::model
