#include "train/sgd.h"

#include <ATen/ops/add.h>

namespace pipedream::train {

void Sgd::step(std::size_t parameter, const at::Tensor& from, const at::Tensor& gradient,
               const at::Tensor& to) {
  at::Tensor moved = gradient;
  if (options_.momentum != 0) {
    at::Tensor& velocity = velocity_[parameter];
    if (velocity.defined())
      velocity.mul_(options_.momentum).add_(gradient);
    else
      velocity = gradient.clone();
    moved = velocity;
  }
  at::Tensor out = to;
  at::add_out(out, from, moved, -options_.learning_rate);
}

}  // namespace pipedream::train
