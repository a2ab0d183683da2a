#include "model/network.h"

#include <ATen/ops/empty.h>
#include <c10/util/accumulate.h>

#include "core/check.h"
#include "model/random.h"

namespace pipedream::model {
namespace {

// Minibatches count from 0, so −1 keeps the draws of the initial weights apart from all others.
constexpr std::int64_t kBeforeTraining = -1;

Tensors make_tensors(const std::vector<TensorSpec>& specs, RandomKey key, at::Device device,
                     bool requires_grad) {
  Tensors tensors;
  for (const TensorSpec& spec : specs) {
    at::Tensor tensor = initial_tensor(spec, key).to(device);
    tensor.set_requires_grad(requires_grad);
    tensors.push_back(std::move(tensor));
    ++key.draw;
  }
  return tensors;
}

}  // namespace

std::int64_t parameter_count(const LayerSpec& spec) {
  std::int64_t count = 0;
  for (const TensorSpec& parameter : spec.parameters)
    count += c10::multiply_integers(parameter.shape);
  return count;
}

std::int64_t parameter_count(const Network& network) {
  std::int64_t count = 0;
  for (const LayerSpec& spec : network.specs) count += parameter_count(spec);
  return count;
}

Bytes weight_bytes(const LayerSpec& spec) {
  Bytes bytes;
  for (const TensorSpec& parameter : spec.parameters)
    bytes += Bytes{c10::multiply_integers(parameter.shape) *
                   static_cast<std::int64_t>(c10::elementSize(parameter.type))};
  return bytes;
}

std::unique_ptr<Layer> make_layer(const Network& network, LayerId layer, std::uint64_t seed,
                                  at::Device device) {
  PD_CHECK(!network.graph.layer(layer).is_input);
  const LayerSpec& spec = network.spec(layer);
  const RandomKey key{.seed = seed, .layer = layer.value, .minibatch = kBeforeTraining};
  return spec.make(make_tensors(spec.parameters, key, device, true),
                   make_tensors(spec.buffers, key, device, false));
}

}  // namespace pipedream::model
