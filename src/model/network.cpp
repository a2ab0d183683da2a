#include "model/network.h"

#include <c10/util/accumulate.h>

#include "core/check.h"
#include "model/random.h"

namespace pipedream::model {
namespace {

// Minibatches are numbered from 0, so −1 keeps the random numbers of the initial weights apart from
// all others.
constexpr std::int64_t kBeforeTraining = -1;

RandomKey initial_key(std::uint64_t seed, LayerId layer, std::size_t position) {
  return {.seed = seed,
          .layer = layer.value,
          .minibatch = kBeforeTraining,
          .draw = static_cast<std::int32_t>(position)};
}

Tensors initial_tensors(const std::vector<TensorSpec>& specs, LayerId layer, std::uint64_t seed,
                        at::Device device) {
  Tensors tensors;
  for (const TensorSpec& spec : specs)
    tensors.push_back(initial_tensor(spec, initial_key(seed, layer, tensors.size())).to(device));
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

namespace {

Bytes bytes_of(const std::vector<TensorSpec>& tensors) {
  Bytes bytes;
  for (const TensorSpec& tensor : tensors)
    bytes += Bytes{c10::multiply_integers(tensor.shape) *
                   static_cast<std::int64_t>(c10::elementSize(tensor.type))};
  return bytes;
}

}  // namespace

Bytes weight_bytes(const LayerSpec& spec) { return bytes_of(spec.parameters); }

Bytes state_bytes(const Network& network) {
  Bytes bytes;
  for (const LayerSpec& spec : network.specs)
    bytes += bytes_of(spec.parameters) + bytes_of(spec.buffers);
  return bytes;
}

std::unique_ptr<Layer> make_layer(const Network& network, LayerId layer, std::uint64_t seed,
                                  at::Device device) {
  PD_CHECK(!network.graph.layer(layer).is_input);
  const LayerSpec& spec = network.spec(layer);
  if (spec.make_whole) return spec.make_whole(initial_key(seed, layer, 0), device);
  Tensors parameters = initial_tensors(spec.parameters, layer, seed, device);
  for (at::Tensor& parameter : parameters) parameter.set_requires_grad(true);
  return spec.make(std::move(parameters), initial_tensors(spec.buffers, layer, seed, device));
}

}  // namespace pipedream::model
