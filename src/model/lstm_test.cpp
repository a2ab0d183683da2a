#include "model/lstm.h"

#include <gtest/gtest.h>

#include <ATen/ops/lstm.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

namespace pipedream::model {
namespace {

class UnrollLstm : public testing::TestWithParam<bool> {};

// Values and gradients are those of at::lstm, by whichever kernels they are computed.
TEST_P(UnrollLstm, IsLibtorchsLstm) {
  const bool bidirectional = GetParam();
  const std::int64_t directions = bidirectional ? 2 : 1;
  const at::Tensor x = at::randn({3, 7, 5}).requires_grad_();
  Tensors weights;
  for (std::int64_t d = 0; d < directions; ++d)
    for (const Shape& shape : {Shape{16, 5}, Shape{16, 4}, Shape{16}, Shape{16}})
      weights.push_back(at::randn(shape).requires_grad_());
  const at::Tensor ours = unroll_lstm(x, weights, bidirectional, /*training=*/true);
  const at::Tensor state = at::zeros({directions, 3, 4});
  const at::Tensor theirs = std::get<0>(
      at::lstm(x, {state, state}, weights, true, 1, 0, true, bidirectional, /*batch_first=*/true));
  EXPECT_TRUE(at::allclose(ours, theirs, 1e-4, 1e-5));

  Tensors leaves = weights;
  leaves.push_back(x);
  const at::Tensor gradient = at::randn(ours.sizes());
  const auto our_gradients = torch::autograd::grad({ours}, leaves, {gradient});
  const auto their_gradients = torch::autograd::grad({theirs}, leaves, {gradient});
  for (std::size_t i = 0; i < leaves.size(); ++i)
    EXPECT_TRUE(at::allclose(our_gradients[i], their_gradients[i], 1e-4, 1e-4)) << "gradient " << i;
}

INSTANTIATE_TEST_SUITE_P(Directions, UnrollLstm, testing::Bool(),
                         [](const auto& each) { return each.param ? "both" : "one"; });

}  // namespace
}  // namespace pipedream::model
