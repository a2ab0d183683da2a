// The Layer interface: the one place where a network meets the rest of the program
// (ARCHITECTURE.md, Layers). It knows tensors and nothing of torch::nn, so that imported networks
// and plain functions are layers too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/philox.h"

namespace pipedream::model {

using Tensors = std::vector<at::Tensor>;
using Shape = std::vector<std::int64_t>;

// What a layer is told about one forward pass, besides its inputs.
struct Pass {
  bool training = true;
  // False when recomputation repeats a forward: running averages (as of batch norm) must not be
  // updated a second time.
  bool update_statistics = true;
  // True if the stage recomputes: a second forward of the same item follows before its backward,
  // with `update_statistics` false.
  bool will_be_repeated = false;
  // Key of the layer's random numbers in this pass (docs/glossary.md: random key). A layer that
  // draws several times increments `draw`. Layers of the zoo never use a global generator; those of
  // the library's users do, and it is then seeded from this key.
  RandomKey random;
};

// One layer with its own weights. Owned by one worker and used from its thread alone.
class Layer {
 public:
  virtual ~Layer() = default;

  // Takes one tensor per name in LayerSpec::inputs and returns one per name in LayerSpec::outputs.
  // Must not write into `inputs`: another layer may need them, or they may be leaves of autograd.
  // For an output that the graph marks as a weight (graph::Value::is_weight), the tensor returned
  // is the one in parameters(), not a copy.
  [[nodiscard]] virtual Tensors forward(const Tensors& inputs, const Pass& pass) = 0;

  // The leaf tensors that require gradients, in the order of LayerSpec::parameters. Callers may
  // replace the storage behind them (Tensor::set_data) between passes.
  [[nodiscard]] virtual const Tensors& parameters() const = 0;

  // State without gradients (running averages), in the order of LayerSpec::buffers.
  [[nodiscard]] virtual const Tensors& buffers() const = 0;

  // Copies of other layers' buffers, in the order of LayerSpec::copies.
  [[nodiscard]] virtual const Tensors& copies() const {
    static const Tensors none;
    return none;
  }
};

// How a parameter or buffer is initialised.
struct Init {
  enum class Kind { kConstant, kUniform, kNormal };
  Kind kind = Kind::kConstant;
  // The constant, the bound of a uniform distribution in ±amount, or the standard deviation.
  float amount = 0;
};

// A parameter or buffer before it is allocated.
struct TensorSpec {
  std::string name;  // in torchvision's style: "features.0.weight"
  Shape shape;
  Init init;
  at::ScalarType type = at::kFloat;
};

// A layer before it exists: enough to count, plan and initialise it without allocating weights.
struct LayerSpec {
  std::vector<std::string> inputs;   // names, in the order in which forward() takes them
  std::vector<std::string> outputs;  // names, in the order in which forward() returns them
  std::vector<TensorSpec> parameters;
  std::vector<TensorSpec> buffers;
  // Buffers of other layers that this layer reads, and that no layer changes. The layer has copies
  // of its own, which get the same content when weights are loaded. They are not saved.
  std::vector<TensorSpec> copies;
  // Builds the layer around tensors that match `parameters` and `buffers` above.
  std::function<std::unique_ptr<Layer>(Tensors parameters, Tensors buffers)> make;
  // Used instead of `make` unless empty, for layers that initialise their own tensors. The tensors
  // match `parameters` and `buffers` above, and their values depend on `key` alone. May be called
  // from several threads at once.
  std::function<std::unique_ptr<Layer>(const RandomKey& key, at::Device device)> make_whole;
};

}  // namespace pipedream::model
