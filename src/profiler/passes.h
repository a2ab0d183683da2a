// The three kinds of passes that a profile is made of.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "model/network.h"
#include "profile/profile.h"

namespace pipedream::profiler {

using Values = std::map<ValueId, at::Tensor>;

// A network with all its layers on one device.
struct Model {
  const model::Network& network;
  at::Device device;
  std::uint64_t seed;
  std::vector<std::unique_ptr<model::Layer>> layers;  // by layer; null for inputs

  Model(const model::Network& of, at::Device on, std::uint64_t with_seed);
  void clear_gradients();
  // The inputs of the network for one minibatch, on the device.
  [[nodiscard]] Values load(std::int64_t minibatch) const;
};

struct LayerTime {
  Nanos forward{0};
  Nanos backward{0};
};

// Runs each layer on its own, forward in order and then backward, and times each; by layer.
[[nodiscard]] std::vector<LayerTime> run_layer_by_layer(Model& model, const Values& inputs,
                                                        std::int64_t minibatch);

// Runs forward and backward of the model in one go.
[[nodiscard]] Nanos run_whole(Model& model, const Values& inputs, std::int64_t minibatch);

// What each layer's output measures, what it keeps for backward and which inputs it needs again.
struct LayerMemory {
  std::vector<Bytes> outputs;
  Bytes stash;
  std::vector<bool> keeps_input;
};
[[nodiscard]] std::vector<LayerMemory> run_for_memory(Model& model, const Values& inputs);

}  // namespace pipedream::profiler
