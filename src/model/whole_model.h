// A network with all its layers on one device, for profiling, tests and plain training loops that
// pipelines are compared with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/network.h"
#include "model/precision.h"

namespace pipedream::model {

using Values = std::map<ValueId, at::Tensor>;

// Owns the layers and their weights. Used from one thread. The network must outlive it.
class WholeModel {
 public:
  WholeModel(const Network& network, at::Device device, std::uint64_t seed,
             Precision precision = Precision::kFloat);

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] at::Device device() const { return device_; }
  // While the result lives, the calling thread computes in the model's precision. For callers that
  // run single layers; forward() does this itself.
  [[nodiscard]] ComputeIn compute() const { return {precision_, device_.type()}; }
  [[nodiscard]] Layer& layer(LayerId id) { return *layers_.at(id.index()); }
  // The argument `pass` for running `layer` on `minibatch`.
  [[nodiscard]] Pass pass(LayerId layer, std::int64_t minibatch, bool training = true) const;

  // Made-up inputs for `minibatch`, on the model's device (model/sample_inputs.h).
  [[nodiscard]] Values sample_inputs(std::int64_t minibatch) const;

  // Runs all layers in order. Returns all values of the graph, `inputs` included. `minibatch`
  // selects the random numbers of dropout.
  [[nodiscard]] Values forward(Values inputs, std::int64_t minibatch, bool training = true);

  // Parameters and buffers by name.
  [[nodiscard]] std::map<std::string, at::Tensor> parameters() const;
  [[nodiscard]] std::map<std::string, at::Tensor> buffers() const;
  void clear_gradients();

 private:
  const Network& network_;
  at::Device device_;
  Precision precision_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Layer>> layers_;  // by layer; null for input layers
};

}  // namespace pipedream::model
