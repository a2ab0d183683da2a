// The Layer interface: the one place where a network meets the rest of the program. It knows
// tensors and nothing of torch::nn, so that imported networks and plain functions are layers too.
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

// What one run of a layer is to know besides its inputs.
struct Pass {
  bool training = true;
  // False when a forward is run again for its activations: running averages must not move twice.
  bool update_statistics = true;
  // Names the layer's stream of random numbers in this pass; a layer that draws several times
  // counts `draw` up. Global generators are never used (docs/glossary.md: random key).
  RandomKey random;
};

// One layer with its own weights. Owned by one worker and used from its thread alone.
class Layer {
 public:
  virtual ~Layer() = default;

  // One tensor per name in LayerSpec::outputs, for one per name in LayerSpec::inputs. Must not
  // write into its inputs: they may be needed by another layer, or be leaves of autograd. An output
  // that the graph calls a weight is one of parameters() itself.
  [[nodiscard]] virtual Tensors forward(const Tensors& inputs, const Pass& pass) = 0;

  // The leaf tensors that take gradients, in the order of LayerSpec::parameters. Callers may
  // exchange the storage behind them (Tensor::set_data) between passes.
  [[nodiscard]] virtual const Tensors& parameters() const = 0;

  // State without gradients (running averages), in the order of LayerSpec::buffers.
  [[nodiscard]] virtual const Tensors& buffers() const = 0;
};

// How a parameter or buffer begins.
struct Init {
  enum class Kind { kConstant, kUniform, kNormal };
  Kind kind = Kind::kConstant;
  float amount = 0;  // the constant; the bound of ±uniform; the standard deviation
};

struct TensorSpec {
  std::string name;  // as torchvision would call it: "features.0.weight"
  Shape shape;
  Init init;
  at::ScalarType type = at::kFloat;
};

// A layer before it exists: enough to count, plan and initialise it without allocating weights.
struct LayerSpec {
  std::vector<std::string> inputs;   // names, in the order in which forward() takes them
  std::vector<std::string> outputs;  // and in the order in which it returns them
  std::vector<TensorSpec> parameters;
  std::vector<TensorSpec> buffers;
  // Builds the layer around tensors of these specs.
  std::function<std::unique_ptr<Layer>(Tensors parameters, Tensors buffers)> make;
  // Instead, for layers that know themselves how they begin: builds one whose tensors are as these
  // specs say and depend on the key alone. May be called from several threads.
  std::function<std::unique_ptr<Layer>(const RandomKey& key, at::Device device)> make_whole;
};

}  // namespace pipedream::model
