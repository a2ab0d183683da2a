#include "train/optimiser_options.h"

#include <gtest/gtest.h>

#include <ATen/ops/full.h>

#include "core/error.h"
#include "core/testing.h"
#include "systems/planning.h"

namespace pipedream::train {
namespace {

using test::message_of;

TEST(OptimiserOptions, EveryNameReadsBack) {
  for (const std::string& name : systems::optimiser_names())
    EXPECT_EQ(to_text(optimiser_kind(name)), name);
}

TEST(OptimiserOptions, AnUnknownNameIsAnsweredWithTheNearest) {
  EXPECT_EQ(message_of<BadUsage>([] { (void)optimiser_kind("adamx"); }),
            "there is no optimiser 'adamx' (did you mean 'adam'?)");
}

TEST(OptimiserOptions, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(message_of<BadUsage>([] { (void)make_optimiser({.learning_rate = -1}); }),
            "`learning_rate`: wanted a number from 0 on, found -1");
  EXPECT_EQ(message_of<BadUsage>([] { (void)make_optimiser({.momentum = 1}); }),
            "`momentum`: wanted a number from 0 to below 1, found 1");
}

TEST(OptimiserOptions, AdaptiveOnesTakeSmallerStepsWhereNobodySaysHowFar) {
  EXPECT_EQ(default_learning_rate(OptimiserKind::kSgd), 0.01);
  EXPECT_EQ(default_learning_rate(OptimiserKind::kMomentum), 0.01);
  EXPECT_EQ(default_learning_rate(OptimiserKind::kAdam), 0.001);
  EXPECT_EQ(default_learning_rate(OptimiserKind::kAdamW), 0.001);
}

TEST(OptimiserOptions, PlainSgdHasNoMomentum) {
  const auto sgd = make_optimiser({.kind = OptimiserKind::kSgd, .learning_rate = 1});
  const at::Tensor w = at::full({1}, 0.0F);
  for (int i = 0; i < 2; ++i) sgd->step({0, w, at::full({1}, 1.0F), w});
  EXPECT_FLOAT_EQ(w.item<float>(), -2);
}

}  // namespace
}  // namespace pipedream::train
