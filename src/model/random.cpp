#include "model/random.h"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

namespace pipedream::model {
namespace {

std::span<float> floats_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

at::Tensor new_floats(at::IntArrayRef shape, at::Device device) {
  return at::empty(shape, at::TensorOptions().device(device).dtype(at::kFloat));
}

at::Generator generator_of(const RandomKey& key, at::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(folded(key));
  return generator;
}

}  // namespace

at::Tensor uniform(at::IntArrayRef shape, RandomKey key, at::Device device) {
  at::Tensor out = new_floats(shape, device);
  if (!device.is_cpu()) return out.uniform_(0, 1, generator_of(key, device));
  fill_uniform(key, floats_of(out));
  return out;
}

at::Tensor normal(at::IntArrayRef shape, RandomKey key, at::Device device) {
  at::Tensor out = new_floats(shape, device);
  if (!device.is_cpu()) return out.normal_(0, 1, generator_of(key, device));
  fill_normal(key, floats_of(out));
  return out;
}

at::Tensor initial_tensor(const TensorSpec& spec, RandomKey key) {
  if (spec.init.kind == Init::Kind::kConstant)
    return at::full(spec.shape, spec.init.amount, at::TensorOptions().dtype(spec.type));
  at::Tensor out = at::empty(spec.shape, at::TensorOptions().dtype(at::kFloat));
  const auto values = floats_of(out);
  if (spec.init.kind == Init::Kind::kNormal) {
    fill_normal(key, values);
    for (float& value : values) value *= spec.init.amount;
  } else {
    fill_uniform(key, values);
    for (float& value : values) value = (2 * value - 1) * spec.init.amount;
  }
  return out;
}

at::Tensor drop_scale(at::IntArrayRef shape, double p, const Pass& pass, const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  return uniform(shape, pass.random, x.device()).ge_(p).mul_(scale).to(x.dtype());
}

at::Tensor dropout(const at::Tensor& x, double p, const Pass& pass) {
  if (!pass.training || p == 0) return x;
  // One kernel in place of four, and a byte per element for backward in place of x's type.
  if (x.is_cuda() && p < 1)
    return std::get<0>(at::_fused_dropout(x, 1 - p, generator_of(pass.random, x.device())));
  return x * drop_scale(x.sizes(), p, pass, x);  // backward needs the scale alone
}

}  // namespace pipedream::model
