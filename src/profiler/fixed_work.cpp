#include "profiler/fixed_work.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>

namespace pipedream::profiler {

std::function<void()> fixed_work(at::Device device) {
  // A GPU is fast only if it gets much work at once.
  const std::int64_t images = device.is_cpu() ? 8 : 256;
  const std::int64_t rows = device.is_cpu() ? 512 : 4096;
  const auto filled = [device](at::IntArrayRef sizes) {
    return at::full(sizes, 0.01, at::TensorOptions().dtype(at::kFloat).device(device));
  };
  const at::Tensor image = filled({images, 64, 32, 32});
  const at::Tensor kernel = filled({64, 64, 3, 3});
  const at::Tensor matrix = filled({rows, rows});
  return [=] {
    const at::NoGradGuard no_grad;
    const at::Tensor convolved = at::relu(at::conv2d(image, kernel, {}, 1, 1));
    const at::Tensor product = at::matmul(matrix, matrix);
    // Reading a value waits for the device.
    (void)(convolved.sum() + product.sum()).item<float>();
  };
}

}  // namespace pipedream::profiler
