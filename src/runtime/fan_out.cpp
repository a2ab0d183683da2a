#include "runtime/fan_out.h"

#include <torch/csrc/autograd/custom_function.h>

namespace pipedream::runtime {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct FanOut : torch::autograd::Function<FanOut> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, std::int64_t count) {
    context->set_materialize_grads(false);
    variable_list names;
    for (std::int64_t i = 0; i < count; ++i) names.push_back(x.detach());
    return names;
  }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    at::Tensor sum;
    for (const at::Tensor& gradient : gradients)
      if (gradient.defined()) sum = sum.defined() ? sum + gradient : gradient;
    return {sum, at::Tensor()};
  }
};

}  // namespace

model::Tensors fan_out(const at::Tensor& x, std::size_t count) {
  return FanOut::apply(x, static_cast<std::int64_t>(count));
}

}  // namespace pipedream::runtime
