// Layers of the library's users as layers of the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pipedream/pipedream.h>

#include "model/network_builder.h"

namespace pipedream::library {

// What is known of a layer since it was tried out: all that a worker needs to make its own.
// Immutable once the network is built; shared by all workers.
struct Blueprint {
  std::string name;
  detail::Recipe recipe;
  std::vector<std::size_t>
      arguments;                     // of the recipe's forward: positions among the layer's inputs
  std::size_t sampled = 0;           // the first input that is no weight
  std::size_t results = 0;           // how many tensors forward returns
  std::vector<std::size_t> outputs;  // those that others use
  std::vector<model::TensorType> types;  // of each of these, for one sample; the loss has none
  std::vector<bool> is_loss;             // whether it is a number, by output
  std::vector<std::string> parameters;   // names in the module, in order
  std::vector<std::string> buffers;
  std::vector<std::size_t> shared;  // parameters that other layers use too
  bool draws = false;               // random numbers, when it runs
  Weights start;                    // what some tensors begin with, by name in the module
};

// The tensors of a module by name in it. Parameters take gradients and occur once each; what takes
// none counts as a buffer.
struct ModuleTensors {
  std::vector<std::pair<std::string, at::Tensor>> parameters;
  std::vector<std::pair<std::string, at::Tensor>> buffers;
};
[[nodiscard]] ModuleTensors tensors_of(const torch::nn::Module* module);

// The layer with initial weights that depend on the key alone, unless the blueprint has them.
[[nodiscard]] std::unique_ptr<model::Layer> make_module_layer(
    std::shared_ptr<const Blueprint> blueprint, const RandomKey& key, at::Device device);

// Lets a spec make its layers by that blueprint.
void use(std::shared_ptr<const Blueprint> blueprint, model::LayerSpec& spec);

// "Float [N, 3, 32, 32]": for people.
[[nodiscard]] std::string type_text(const model::TensorType& of_sample);
[[nodiscard]] std::string type_text(const at::Tensor& tensor);

}  // namespace pipedream::library
