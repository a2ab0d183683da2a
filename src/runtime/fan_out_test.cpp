#include "runtime/fan_out.h"

#include <gtest/gtest.h>

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>

namespace pipedream::runtime {
namespace {

at::Tensor leaf() { return at::full({2}, 3.0F).requires_grad_(); }

TEST(FanOut, EveryNameHasTheContent) {
  const at::Tensor x = leaf();
  for (const at::Tensor& name : fan_out(x, 3)) {
    EXPECT_TRUE(at::equal(name, x));
    EXPECT_TRUE(name.requires_grad());
  }
}

// The sum depends on the order: 1 + 1e8 rounds to 1e8, so 1 survives only if it is added last.
TEST(FanOut, GradientsAreAddedInTheOrderOfNames) {
  const auto sum_of = [](const std::vector<float>& factors) {
    const at::Tensor x = leaf();
    const model::Tensors names = fan_out(x, factors.size());
    // The names are used from the last to the first, because the order of uses must not matter.
    at::Tensor used;
    for (std::size_t i = factors.size(); i-- > 0;)
      used = used.defined() ? used + names[i] * factors[i] : names[i] * factors[i];
    used.sum().backward();
    return x.grad()[0].item<float>();
  };
  EXPECT_EQ(sum_of({1e8F, -1e8F, 1}), 1);
  EXPECT_EQ(sum_of({1, 1e8F, -1e8F}), 0);
}

TEST(FanOut, NamesThatNobodyUsedAreLeftOut) {
  const at::Tensor x = leaf();
  fan_out(x, 4)[2].backward(at::full({2}, 5.0F));
  EXPECT_EQ(x.grad()[0].item<float>(), 5);
}

}  // namespace
}  // namespace pipedream::runtime
