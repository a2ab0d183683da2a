// A network with all its layers on one device, for profiling, tests and plain training loops that
// pipelines are compared with.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/network.h"
#include "model/precision.h"

namespace pipedream::model {

using Values = std::map<ValueId, at::Tensor>;

// Returns the values of an input for all samples of a minibatch, on the CPU. Called from several
// threads at once.
using MakeInput = std::function<at::Tensor(const InputSpec& input, std::int64_t minibatch)>;

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

  // From now on sample_inputs() takes its inputs from `make`.
  void take_inputs_from(MakeInput make) { make_input_ = std::move(make); }
  // Inputs for `minibatch`, on the model's device: made-up ones (model/sample_inputs.h), unless
  // take_inputs_from() has named others.
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
  MakeInput make_input_;                        // empty: made-up inputs
  std::vector<std::unique_ptr<Layer>> layers_;  // by layer; null for input layers
};

}  // namespace pipedream::model
