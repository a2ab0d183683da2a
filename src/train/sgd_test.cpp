#include "train/sgd.h"

#include <gtest/gtest.h>

#include <ATen/ops/full.h>

namespace pipedream::train {
namespace {

// By hand: v = g, then 0.9·v + g; w −= 0.1·v.
TEST(Sgd, AppliesMomentumAsDocumented) {
  Sgd sgd({.learning_rate = 0.1, .momentum = 0.9});
  const at::Tensor w = at::full({1}, 1.0F);
  const at::Tensor g = at::full({1}, 2.0F);
  sgd.step(0, w, g, w);
  EXPECT_FLOAT_EQ(w.item<float>(), 0.8F);
  sgd.step(0, w, g, w);
  EXPECT_FLOAT_EQ(w.item<float>(), 0.8F - 0.1F * (0.9F * 2 + 2));
}

TEST(Sgd, GivesTheSameBitsInPlaceAndIntoAnotherBuffer) {
  Sgd one({.learning_rate = 0.1, .momentum = 0.9});
  Sgd two({.learning_rate = 0.1, .momentum = 0.9});
  at::Tensor in_place = at::rand({1000});
  at::Tensor from = in_place.clone();
  for (int step = 0; step < 3; ++step) {
    const at::Tensor g = at::rand({1000});
    at::Tensor to = at::empty({1000});
    one.step(0, in_place, g, in_place);
    two.step(0, from, g, to);
    from = to;
  }
  EXPECT_TRUE(at::equal(in_place, from));
}

}  // namespace
}  // namespace pipedream::train
