#include "generate/predictor.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "core/text.h"
#include "data/task.h"

namespace pipedream::generate {
namespace {

[[noreturn]] void refuse(const model::Network& network) {
  throw CannotMeet("'" + network.name +
                   "' does not predict words: choose a language model or a network that "
                   "translates");
}

// The value that the loss compares with the labels.
ValueId scores_of(const model::Network& network) {
  const auto task = data::task_of(network);
  if (!task || std::holds_alternative<data::Classification>(*task)) refuse(network);
  const LayerId loss = network.graph.value(network.loss).producer;
  return network.graph.layer(loss).inputs.at(0);
}

void set_weights(model::WholeModel& model, const FindTensor& weights) {
  for (const auto& named : {model.parameters(), model.buffers()})
    for (const auto& [name, tensor] : named) {
      const auto found = weights(name);
      if (!found) throw BadFile("the weights have no tensor '" + printable(name) + "'");
      at::Tensor own = tensor;
      own.copy_(*found);
    }
}

// `given` with as many samples as the network computes, those added being zeros.
at::Tensor filled(const at::Tensor& given, std::int64_t samples) {
  if (given.size(0) == samples) return given;
  std::vector<std::int64_t> shape = given.sizes().vec();
  shape[0] = samples;
  at::Tensor whole = at::zeros(shape, given.options());
  whole.slice(0, 0, given.size(0)).copy_(given);
  return whole;
}

}  // namespace

Predictor::Predictor(const model::Network& network, const FindTensor& weights, at::Device device,
                     model::Precision precision)
    : model_(network, device, /*seed=*/0, precision), scores_(scores_of(network)) {
  const at::NoGradGuard no_grad;
  set_weights(model_, weights);
}

at::Tensor Predictor::scores(const std::map<std::string, at::Tensor>& inputs) {
  const at::NoGradGuard no_grad;
  const model::Network& network = model_.network();
  const std::int64_t wanted = inputs.begin()->second.size(0);
  const std::int64_t samples = network.has_fixed_batch ? network.batch : wanted;
  model::Values values;
  for (const model::InputSpec& input : network.inputs) {
    model::Shape shape = input.shape;
    shape[0] = samples;
    const auto found = inputs.find(input.name);
    const at::Tensor given = found == inputs.end() ? at::zeros(shape, input.type)
                                                   : filled(found->second.to(input.type), samples);
    values[network.graph.layer(input.layer).outputs[0]] = given.to(model_.device());
  }
  const model::Values all = model_.forward(std::move(values), 0, /*training=*/false);
  if (all.at(scores_).dim() != 3) refuse(network);
  return all.at(scores_).slice(0, 0, wanted).to(at::kCPU, at::kFloat);
}

}  // namespace pipedream::generate
