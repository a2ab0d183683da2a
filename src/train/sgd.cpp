#include "train/sgd.h"

#include <ATen/ops/add.h>
#include <ATen/ops/full_like.h>

#include "train/sgd_pass.h"

namespace pipedream::train {
namespace {

bool is_plain(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.scalar_type() == at::kFloat && tensor.is_contiguous();
}

}  // namespace

void Sgd::step(std::size_t parameter, const at::Tensor& from, const at::Tensor& gradient,
               const at::Tensor& to) {
  const at::Tensor velocity = velocity_of(parameter, from);
  const bool plain = is_plain(from) && is_plain(gradient) && is_plain(to);
  if (!plain || !can_sgd_pass()) return step_by_operations(from, gradient, velocity, to);
  sgd_pass({.learning_rate = static_cast<float>(options_.learning_rate),
            .momentum = static_cast<float>(options_.momentum),
            .weight_decay = static_cast<float>(options_.weight_decay)},
           {.from = from.const_data_ptr<float>(),
            .gradient = gradient.const_data_ptr<float>(),
            .velocity = velocity.defined() ? velocity.mutable_data_ptr<float>() : nullptr,
            .to = to.mutable_data_ptr<float>(),
            .count = static_cast<std::size_t>(from.numel())});
}

at::Tensor Sgd::velocity_of(std::size_t parameter, const at::Tensor& weights) {
  if (options_.momentum == 0) return {};
  at::Tensor& velocity = velocity_[parameter];
  // −0 + g is g for every g, zeros of either sign too: the first step needs no case of its own.
  if (!velocity.defined())
    velocity = at::full_like(weights, -0.0, {}, at::MemoryFormat::Contiguous);
  return velocity;
}

void Sgd::step_by_operations(const at::Tensor& from, const at::Tensor& gradient,
                             at::Tensor velocity, const at::Tensor& to) const {
  at::Tensor slope = gradient;
  if (options_.weight_decay != 0) slope = gradient.add(from, options_.weight_decay);
  if (velocity.defined()) slope = velocity.mul_(options_.momentum).add_(slope);
  at::Tensor out = to;
  at::add_out(out, from, slope, -options_.learning_rate);
}

}  // namespace pipedream::train
