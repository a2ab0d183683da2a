// Puts a network together from finished parts: its graph, the specs of its layers, its inputs. The
// zoo (network_builder.h) and the library's Builder both end here.
#pragma once

#include <string>
#include <vector>

#include "model/network.h"

namespace pipedream::model {

struct TensorType {
  Shape shape;
  at::ScalarType type = at::kFloat;
};

// An output of a layer: what the layer computes, or one of its weights for other layers to use.
struct OutputSpec {
  std::string name;
  TensorType type;  // for a whole minibatch
  bool is_weight = false;
};

// Names output number `output` of a layer that is already in the network.
struct OutputPlace {
  LayerId layer;
  std::size_t output = 0;
};

// Assembles one network: it cannot be used any more after build(). Used from one thread.
class Assembly {
 public:
  Assembly(std::string name, std::int64_t batch);

  // Adds an input layer, whose one value is read from the data set. Integers lie in [0, `bound`);
  // for real numbers `bound` is 0. Throws BadUsage if the input is larger than 2^53 bytes, the most
  // that a profile file can express exactly.
  LayerId add_input(const std::string& name, const TensorType& type, std::int64_t bound);

  // Adds a layer that reads `inputs`. Of `spec`, this function fills in `outputs`, and puts
  // `prefix` and a dot before the names of parameters and buffers, unless it is empty. Requires one
  // name in `spec.inputs` for each input. Throws BadUsage if an output is too large, as add_input()
  // does.
  LayerId add_layer(const std::string& name, std::string kind, const std::string& prefix,
                    const std::vector<OutputSpec>& outputs, const std::vector<OutputPlace>& inputs,
                    LayerSpec spec);

  // Adds to Network::facts.
  void add_fact(const std::string& name, const std::string& value) { network_.facts[name] = value; }

  // Returns the finished network. Requires that `loss` is a scalar.
  [[nodiscard]] Network build(const OutputPlace& loss) &&;

 private:
  Network network_;
  graph::Builder graph_;
};

}  // namespace pipedream::model
