// How the zoo writes networks down: blocks joined by wires, each block one layer of the graph.
//   Wire x = net.input("image", {batch, 3, 32, 32}, at::kFloat);
//   x = net.add("fc", linear(3072, 10), {x});
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/network.h"

namespace pipedream::model {

struct TensorType {
  Shape shape;
  at::ScalarType type = at::kFloat;
};

// The computation of a layer, given its own tensors.
struct Weights {
  const Tensors& parameters;
  const Tensors& buffers;
};
using ForwardFunction =
    std::function<at::Tensor(const Tensors& inputs, const Weights& weights, const Pass& pass)>;

// A kind of layer with one output: its tensors, the type of its output for given inputs, and its
// computation. A test runs every block of the zoo and compares the type promised with the result.
// Parameters that other layers use too are further outputs of the layer, for
// NetworkBuilder::weight.
struct Block {
  std::string kind;
  std::vector<std::string> inputs{"input"};
  std::string output = "output";
  std::vector<TensorSpec> parameters;  // named relative to the layer
  std::vector<TensorSpec> buffers;
  std::vector<std::size_t> shared;  // positions of the parameters that other layers use too
  std::function<TensorType(std::span<const TensorType>)> infer;
  ForwardFunction forward;
};

// An output of a layer that is already in the network.
struct Wire {
  LayerId layer;
  TensorType type;
  std::size_t output = 0;
};

// An output of that layer as the graph has it. Throws BadUsage for one larger than any profile
// can say.
[[nodiscard]] graph::Builder::Output output_of(const std::string& layer, std::string name,
                                               const TensorType& type);

class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, std::int64_t batch);

  // A value read from the data set; integers lie in [0, bound).
  Wire input(const std::string& name, Shape shape, at::ScalarType type, std::int64_t bound = 0);

  // The next layer. Its parameters are called PREFIX.NAME; the prefix is the layer's own
  // name unless another is given.
  Wire add(const std::string& name, Block block, const std::vector<Wire>& inputs);
  Wire add(const std::string& name, const std::string& prefix, Block block,
           const std::vector<Wire>& inputs);

  // The weights that the layer `of` shares (Block::shared, the first of them), as an input of
  // another: then both learn one matrix, wherever they run.
  [[nodiscard]] Wire weight(const Wire& of) const;

  // The finished network; `loss` is a scalar.
  [[nodiscard]] Network build(const Wire& loss) &&;

 private:
  Network network_;
  graph::Builder graph_;
  std::unordered_map<LayerId, Wire> shared_;  // the first of the weights that a layer shares
};

}  // namespace pipedream::model
