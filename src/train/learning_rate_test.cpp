#include "train/learning_rate.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace pipedream::train {
namespace {

// 1000 samples per epoch, 4 epochs, updates of 10 samples.
constexpr RateFacts kFacts{.epoch = 1000, .all = 4000, .update = 10, .batch = 10};

double rate(const RateOptions& options, std::int64_t samples, const RateFacts& facts = kFacts) {
  return RateCurve(options, facts)(samples, 1);
}

TEST(LearningRate, IsConstantIfNothingIsSaid) {
  for (const std::int64_t samples : {0, 10, 3990}) EXPECT_EQ(rate({}, samples), 1);
}

TEST(LearningRate, WarmsUpInEqualSteps) {
  const RateOptions options{.warm_up = parse_span("5")};
  const double wanted[] = {0.2, 0.4, 0.6, 0.8, 1, 1, 1};
  for (int update = 0; update < 7; ++update)
    EXPECT_DOUBLE_EQ(rate(options, update * 10), wanted[update]) << update;
  EXPECT_DOUBLE_EQ(rate({.warm_up = parse_span("2epochs")}, 990), 0.5);
}

TEST(LearningRate, FallsInSteps) {
  const RateOptions options{.decay = parse_decay("step:1.5epochs:0.5")};
  EXPECT_EQ(rate(options, 1490), 1);
  EXPECT_EQ(rate(options, 1500), 0.5);
  EXPECT_EQ(rate(options, 3000), 0.25);
  EXPECT_EQ(rate({.decay = parse_decay("step:100:0.1")}, 1000), 0.1);
}

// torch.optim.lr_scheduler.CosineAnnealingLR, whose steps are updates.
TEST(LearningRate, FallsAsACosineToTheEndOfTheTraining) {
  const RateOptions options{.decay = parse_decay("cosine")};
  EXPECT_EQ(rate(options, 0), 1);
  EXPECT_DOUBLE_EQ(rate(options, 1000), 0.85355339059327373);
  EXPECT_DOUBLE_EQ(rate(options, 2000), 0.5);
  EXPECT_NEAR(rate(options, 3990), 0, 1e-4);
  EXPECT_NEAR(rate({.decay = parse_decay("cosine:0.1")}, 4000), 0.1, 1e-12);
}

TEST(LearningRate, FallsAsACosineWhenItHasWarmedUp) {
  const RateOptions options{.warm_up = parse_span("2epochs"), .decay = parse_decay("cosine")};
  EXPECT_DOUBLE_EQ(rate(options, 990), 0.5);
  EXPECT_DOUBLE_EQ(rate(options, 2000), 1);
  EXPECT_DOUBLE_EQ(rate(options, 3000), 0.5);
}

TEST(LearningRate, MeansTheSameForUpdatesOfAnySize) {
  const RateOptions options{.warm_up = parse_span("1epoch"), .decay = parse_decay("cosine")};
  RateFacts large = kFacts;
  large.update = 160;
  for (std::int64_t samples = 1000; samples < 4000; samples += 160)
    EXPECT_EQ(rate(options, samples), rate(options, samples, large));
}

TEST(LearningRate, GrowsWithTheSamplesOfAnUpdate) {
  RateFacts facts = kFacts;
  facts.minibatches = 4;  // of dapple, whose replicas share a minibatch
  facts.update = 40;
  EXPECT_EQ(RateCurve({.scales = true}, kFacts)(0, 3), 3);
  EXPECT_EQ(RateCurve({.scales = true}, facts)(0, 3), 12);
  EXPECT_EQ(RateCurve({}, facts)(0, 3), 1);
  EXPECT_EQ(RateCurve({.scales = true}, facts).of_first_stage(0), 4);
}

// Warm-up that is longer than the training: the cosine has no room.
TEST(LearningRate, StaysFiniteIfTheTrainingIsShort) {
  const RateOptions options{.warm_up = parse_span("9epochs"), .decay = parse_decay("cosine")};
  for (std::int64_t samples = 0; samples <= 4000; samples += 500) {
    EXPECT_GE(rate(options, samples), 0);
    EXPECT_LE(rate(options, samples), 1);
  }
}

TEST(LearningRate, RefusesTextsThatSayNothing) {
  for (const char* text : {"", "0", "-1", "1.5", "1e99", "nan", "5 epochs", "epochs", "0epochs",
                           "infepochs", "5steps"})
    EXPECT_THROW((void)parse_span(text), BadValue) << text;
  for (const char* text : {"", "linear", "cosine:", "cosine:2", "cosine:0.1:3", "cosine:nan",
                           "step", "step:5", "step:5:0", "step:0:0.1", "step:5:2", "step:5:0.1:1"})
    EXPECT_THROW((void)parse_decay(text), BadValue) << text;
}

}  // namespace
}  // namespace pipedream::train
