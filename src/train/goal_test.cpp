#include "train/goal.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream::train {
namespace {

// Of 10 samples with one label each.
runtime::Score score(double loss, std::int64_t right) {
  return {.loss = 10 * loss, .samples = 10, .right = right, .predictions = 10};
}

TEST(Goal, IsReachedByTheFirstEvaluationThatIsAsGoodAsTheTarget) {
  GoalWatch watch({.target = Target{Figure::kAccuracy, 0.9}}, 100);
  watch.see(score(1, 8), 100);
  EXPECT_FALSE(watch.has_ended());
  watch.see(score(1, 9), 200);
  EXPECT_TRUE(watch.is_reached());
  EXPECT_EQ(watch.best(), 0.9);
}

TEST(Goal, OfALossIsReachedFromAbove) {
  GoalWatch watch({.target = Target{Figure::kLoss, 0.5}}, 100);
  watch.see(score(0.6, 0), 100);
  EXPECT_FALSE(watch.has_ended());
  watch.see(score(0.4, 0), 200);
  EXPECT_TRUE(watch.is_reached());
}

TEST(Goal, OfAPerplexityIsForNetworksThatPredictWords) {
  GoalWatch watch({.target = Target{Figure::kPerplexity, 3}}, 100);
  runtime::Score words{.loss = 10 * std::log(2.5), .samples = 10, .right = 0, .predictions = 50};
  watch.see(words, 100);
  EXPECT_TRUE(watch.is_reached());
  GoalWatch other({.target = Target{Figure::kPerplexity, 3}}, 100);
  EXPECT_EQ(test::message_of<CannotMeet>([&] { other.see(score(1, 1), 100); }),
            "`target_perplexity`: an evaluation of this network gives no perplexity; choose "
            "`target_loss`");
}

// The item's loss is the sum of its tokens' losses, divided by all its positions.
TEST(Perplexity, IsThatOfTheTokensThatAreNoPadding) {
  const double of_token = 1.5;
  runtime::Score score{.samples = 10, .predictions = 40, .padding = 20};
  score.loss = of_token * 40 / 60 * 10;
  EXPECT_NEAR(perplexity_of(score).value(), std::exp(of_token), 1e-12);
  score += score;
  EXPECT_NEAR(perplexity_of(score).value(), std::exp(of_token), 1e-12);
  EXPECT_FALSE(perplexity_of({.loss = 1, .samples = 10, .padding = 20}));
}

TEST(Goal, OfALossThatIsNoNumberIsNotReached) {
  GoalWatch watch({.target = Target{Figure::kLoss, 0.5}}, 100);
  watch.see(score(std::nan(""), 0), 100);
  EXPECT_FALSE(watch.has_ended());
}

TEST(Goal, PatienceEndsATrainingThatLearnsNoMore) {
  GoalWatch watch({.patience_epochs = 2}, 100);
  watch.see(score(0.5, 0), 100);
  watch.see(score(0.6, 0), 200);
  EXPECT_FALSE(watch.has_ended());
  watch.see(score(0.4, 0), 300);  // better: counting begins anew
  watch.see(score(0.4, 0), 400);
  EXPECT_FALSE(watch.has_ended());
  watch.see(score(0.5, 0), 500);
  EXPECT_TRUE(watch.is_stalled());
  EXPECT_FALSE(watch.is_reached());
  EXPECT_EQ(watch.best(), 0.4);
}

TEST(Goal, PatienceIsForTheFigureOfTheTarget) {
  GoalWatch watch({.target = Target{Figure::kAccuracy, 0.9}, .patience_epochs = 1}, 100);
  watch.see(score(0.5, 5), 100);
  watch.see(score(0.6, 6), 200);  // the loss is worse, and the accuracy better
  EXPECT_FALSE(watch.has_ended());
  watch.see(score(0.3, 6), 300);
  EXPECT_TRUE(watch.is_stalled());
}

TEST(Goal, SeveralEvaluationsInAnEpochAreNotSeveralEpochs) {
  GoalWatch watch({.patience_epochs = 1}, 100);
  for (std::int64_t samples = 25; samples < 125; samples += 25) {
    watch.see(score(0.5, 0), samples);
    EXPECT_FALSE(watch.has_ended()) << samples;
  }
  watch.see(score(0.5, 0), 125);
  EXPECT_TRUE(watch.is_stalled());
}

TEST(Goal, WithoutOneNothingEnds) {
  GoalWatch watch({}, 100);
  watch.see(score(std::nan(""), 0), 100);
  EXPECT_FALSE(watch.has_ended());
}

TEST(Top5, IsForNetworksWithMoreThanFiveClasses) {
  EXPECT_FALSE(top5_of(score(1, 1)));
  runtime::Score ranked = score(1, 1);
  ranked.ranked = 10;
  ranked.in_five = 7;
  EXPECT_EQ(top5_of(ranked), 0.7);
}

}  // namespace
}  // namespace pipedream::train
