// Adapts the layers of the library's users, torch::nn modules and functions, to model::Layer
// (docs/library.md, what a layer must do).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pipedream/pipedream.h>

#include "model/assembly.h"

namespace pipedream::library {

// All that a worker needs to make its own copy of a layer. The Builder fills it in from the trial
// runs (library/trial.h). Immutable once the network is built; shared by all workers.
//
// A layer of the graph takes each value once, so its inputs are the different arguments of the
// user's forward. It has as outputs only the results of forward that are used.
struct Blueprint {
  std::string name;
  detail::Recipe recipe;
  std::vector<std::size_t> arguments;    // for each argument of forward, the index of its input
  std::size_t sampled = 0;               // index of the first input that is no weight
  std::size_t results = 0;               // how many tensors forward returns
  std::vector<std::size_t> outputs;      // results that other layers use, or that are the loss
  std::vector<model::TensorType> types;  // for each of `outputs`: type per sample; loss: a scalar
  std::vector<bool> is_loss;             // for each of `outputs`: whether it is the loss
  std::vector<std::string> parameters;   // names in the module, in the order of ModuleTensors
  std::vector<std::string> buffers;      // names in the module, in the order of ModuleTensors
  std::vector<std::size_t> shared;       // indices of the parameters that other layers use too
  bool draws = false;                    // whether forward draws random numbers
};

// The tensors of a module with their names in it. A tensor that is registered several times occurs
// once. Only tensors that require gradients are `parameters`; all others are `buffers`.
struct ModuleTensors {
  std::vector<std::pair<std::string, at::Tensor>> parameters;
  std::vector<std::pair<std::string, at::Tensor>> buffers;
};
// Returns the tensors of `module`; none for nullptr.
[[nodiscard]] ModuleTensors tensors_of(const torch::nn::Module* module);

// Makes the layer on `device`. Its initial values depend on `key` alone. May be called from several
// threads; the users' factories run one at a time.
[[nodiscard]] std::unique_ptr<model::Layer> make_module_layer(
    std::shared_ptr<const Blueprint> blueprint, const RandomKey& key, at::Device device);

// Sets `spec.make_whole` to make layers from `blueprint`.
void use(std::shared_ptr<const Blueprint> blueprint, model::LayerSpec& spec);

// Type and shape for messages. Of a type per sample: "Float [N, 3, 32, 32]".
[[nodiscard]] std::string type_text(const model::TensorType& of_sample);
// Type and shape for messages. Of a tensor: "Float [2, 3, 32, 32]"; "nothing" if it is undefined.
[[nodiscard]] std::string type_text(const at::Tensor& tensor);

}  // namespace pipedream::library
