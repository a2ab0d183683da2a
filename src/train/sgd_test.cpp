#include "train/sgd.h"

#include <gtest/gtest.h>

#include <ATen/ops/full.h>

#include "train/sgd_pass.h"

namespace pipedream::train {
namespace {

// By hand: v = g, then 0.9·v + g; w −= 0.1·v.
TEST(Sgd, AppliesMomentumAsDocumented) {
  Sgd sgd({.learning_rate = 0.1, .momentum = 0.9});
  const at::Tensor w = at::full({1}, 1.0F);
  const at::Tensor g = at::full({1}, 2.0F);
  sgd.step({0, w, g, w});
  EXPECT_FLOAT_EQ(w.item<float>(), 0.8F);
  sgd.step({0, w, g, w});
  EXPECT_FLOAT_EQ(w.item<float>(), 0.8F - 0.1F * (0.9F * 2 + 2));
}

// By hand: g + 0.5·w = 2.5.
TEST(Sgd, AppliesWeightDecayAsDocumented) {
  Sgd sgd({.learning_rate = 0.1, .weight_decay = 0.5});
  const at::Tensor w = at::full({1}, 1.0F);
  sgd.step({0, w, at::full({1}, 2.0F), w});
  EXPECT_FLOAT_EQ(w.item<float>(), 0.75F);
}

TEST(Sgd, GivesTheBitsOfAGradientThatWasDividedBefore) {
  for (const double divisor : {1.0, 2.0, 3.0, 7.0}) {
    Sgd one({.learning_rate = 0.1, .momentum = 0.9});
    Sgd two({.learning_rate = 0.1, .momentum = 0.9});
    const at::Tensor w = at::randn({1003});
    const at::Tensor v = w.clone();
    const at::Tensor g = at::randn({1003});
    one.step({0, w, g.clone(), w, divisor});  // step() may divide in place
    two.step({0, v, g.div(divisor), v});
    EXPECT_TRUE(at::equal(w, v)) << divisor;
  }
}

TEST(Sgd, GivesTheSameBitsInPlaceAndIntoAnotherBuffer) {
  Sgd one({.learning_rate = 0.1, .momentum = 0.9});
  Sgd two({.learning_rate = 0.1, .momentum = 0.9});
  at::Tensor in_place = at::rand({1000});
  at::Tensor from = in_place.clone();
  for (int step = 0; step < 3; ++step) {
    const at::Tensor g = at::rand({1000});
    at::Tensor to = at::empty({1000});
    one.step({0, in_place, g, in_place});
    two.step({0, from, g, to});
    from = to;
  }
  EXPECT_TRUE(at::equal(in_place, from));
}

// A contiguous gradient is applied in one pass, any other gradient by separate operations.
TEST(Sgd, GivesTheSameBitsInOnePassAndByOperations) {
  if (!can_sgd_pass()) GTEST_SKIP() << "this machine has no fused multiply-add";
  for (const double momentum : {0.0, 0.9}) {
    for (const double decay : {0.0, 0.01}) {
      const SgdOptions options{.learning_rate = 0.1, .momentum = momentum, .weight_decay = decay};
      Sgd one(options);
      Sgd two(options);
      const at::Tensor w = at::randn({1003});
      const at::Tensor v = w.clone();
      for (int step = 0; step < 5; ++step) {
        const at::Tensor gaps = at::randn({1003, 2}).select(1, 0);
        const double divisor = step + 1;
        one.step({0, w, gaps.contiguous(), w, divisor});
        two.step({0, v, gaps, v, divisor});
      }
      EXPECT_TRUE(at::equal(w, v)) << "momentum " << momentum << ", decay " << decay;
    }
  }
}

// A momentum of 1e-50 is nonzero as a double, but rounds to 0 as a float.
TEST(Sgd, TakesAMomentumThatIsTooSmallToMatter) {
  Sgd tiny({.learning_rate = 0.1, .momentum = 1e-50});
  Sgd none({.learning_rate = 0.1});
  const at::Tensor w = at::randn({1003});
  const at::Tensor v = w.clone();
  for (int step = 0; step < 3; ++step) {
    const at::Tensor g = at::randn({1003});
    tiny.step({0, w, g, w});
    none.step({0, v, g, v});
  }
  EXPECT_TRUE(at::equal(w, v));
}

TEST(Sgd, KeepsTheVelocitiesOfParametersApart) {
  Sgd sgd({.learning_rate = 1, .momentum = 0.5});
  const at::Tensor a = at::full({1}, 0.0F);
  const at::Tensor b = at::full({2}, 0.0F);
  sgd.step({0, a, at::full({1}, 1.0F), a});
  sgd.step({1, b, at::full({2}, 4.0F), b});
  sgd.step({0, a, at::full({1}, 1.0F), a});
  EXPECT_FLOAT_EQ(a.item<float>(), -2.5F);
  EXPECT_FLOAT_EQ(b[1].item<float>(), -4.0F);
}

}  // namespace
}  // namespace pipedream::train
