// Builds the zoo's networks from blocks joined by wires; each block becomes one layer of the graph.
//   Wire x = net.input("image", {batch, 3, 32, 32}, at::kFloat);
//   x = net.add("fc", linear(3072, 10), {x});
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/assembly.h"

namespace pipedream::model {

// A layer's own tensors, as its computation sees them.
struct Weights {
  const Tensors& parameters;
  const Tensors& buffers;
};
// Computes a layer's output. Weights that the layer shares with others are not part of the result.
using ForwardFunction =
    std::function<at::Tensor(const Tensors& inputs, const Weights& weights, const Pass& pass)>;

// A kind of layer that computes one output: its tensors, the type of its output for given inputs,
// and its computation. A test runs every block of the zoo and compares the promised type with the
// result. Parameters listed in `shared` are further outputs of the layer, for other layers to use
// (NetworkBuilder::weight).
struct Block {
  std::string kind;
  std::vector<std::string> inputs{"input"};
  std::string output = "output";
  std::vector<TensorSpec> parameters;  // names are relative to the layer's
  std::vector<TensorSpec> buffers;
  std::vector<std::size_t> shared;  // indices into `parameters`: those that other layers use too
  std::function<TensorType(std::span<const TensorType>)> infer;  // from input types to output type
  ForwardFunction forward;
};

// What a network keeps of a block. The names of its outputs are left to the network.
[[nodiscard]] LayerSpec spec_of(Block block);

// An output of a layer that is already in the network.
struct Wire {
  LayerId layer;
  TensorType type;
  std::size_t output = 0;  // index of the output in the layer
};

// Builds one network: it cannot be used any more after build(). Used from one thread.
class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, std::int64_t batch) : assembly_(std::move(name), batch) {}

  // Adds an input layer and returns its value, which is read from the data set. Integers lie in
  // [0, `bound`); for real numbers `bound` is 0.
  Wire input(const std::string& name, Shape shape, at::ScalarType type, std::int64_t bound = 0);

  // Adds a layer that takes `inputs`, and returns its output. Its parameters are called
  // PREFIX.NAME; PREFIX is the layer's own name unless `prefix` is given.
  Wire add(const std::string& name, Block block, const std::vector<Wire>& inputs);
  Wire add(const std::string& name, const std::string& prefix, Block block,
           const std::vector<Wire>& inputs);

  // The weight that the layer of `of` shares (the first in Block::shared), to be an input of
  // another layer. Both layers then learn one matrix, on whichever stages they run. Requires that
  // the layer shares a weight.
  [[nodiscard]] Wire weight(const Wire& of) const;

  // For layers that are no blocks. A Wire to one of them is its place and type.
  [[nodiscard]] Assembly& assembly() { return assembly_; }

  // Adds to Network::facts.
  void add_fact(const std::string& name, const std::string& value) {
    assembly_.add_fact(name, value);
  }

  // Returns the finished network. Requires that `loss` is a scalar.
  [[nodiscard]] Network build(const Wire& loss) &&;

 private:
  Assembly assembly_;
  std::unordered_map<LayerId, Wire> shared_;  // by layer: the first weight that it shares
};

}  // namespace pipedream::model
