#include "train/weight_average.h"

#include <gtest/gtest.h>

#include <ATen/ops/lerp.h>

#include "core/error.h"
#include "train/resume_testing.h"

namespace pipedream::train {
namespace {

constexpr double kDecay = 0.75;

// The weights after `minibatches` minibatches.
runtime::Weights trained(PlanCase of, std::int64_t minibatches, std::optional<double> ema) {
  of.ema = ema;
  const Training training(of);
  return training.run(training.recipe(minibatches)).weights;
}

class WeightAverage : public testing::TestWithParam<PlanCase> {};

TEST_P(WeightAverage, IsTheMovingAverageOfTheWeightsAfterEachUpdate) {
  // Replicas that take turns update once per round.
  const std::int64_t each = GetParam().system == "pipedream" ? GetParam().replicas[0] : 1;
  std::map<std::string, at::Tensor> averages = trained(GetParam(), each, {}).parameters;
  for (std::int64_t update = 2; update <= 4; ++update)
    for (const auto& [name, weights] : trained(GetParam(), update * each, {}).parameters)
      averages.at(name) = at::lerp(averages.at(name), weights, 1 - kDecay);
  const runtime::Weights found = trained(GetParam(), 4 * each, kDecay);
  ASSERT_EQ(found.parameters.size(), averages.size());
  for (const auto& [name, average] : averages)
    EXPECT_TRUE(at::equal(found.parameters.at(name), average)) << name;
}

// Training goes on with the weights themselves, also after an evaluation of the averages.
TEST_P(WeightAverage, DoesNotChangeTheTraining) {
  PlanCase averaged = GetParam();
  averaged.ema = kDecay;
  const Training without(GetParam());
  const Training with(averaged);
  const auto run = [](const Training& training) {
    Recipe recipe = training.recipe(24);
    recipe.checkpoints.at_end = true;
    recipe.evaluate = true;
    recipe.evaluate_every = 8;
    recipe.evaluation_samples = 64;
    return training.run(recipe);
  };
  (void)run(without);
  const TrainingOutcome outcome = run(with);
  const std::int64_t step = steps_in(with.folder()).back();
  const auto saved = [step](const Training& training) {
    return one_checkpoint(training.folder() / checkpoint::folder_name(step));
  };
  const auto wanted = tensors_of(saved(without));
  const auto found = tensors_of(saved(with));
  for (const auto& [name, unused] : outcome.weights.parameters)
    EXPECT_TRUE(at::equal(*found(name), *wanted(name))) << name;
}

INSTANTIATE_TEST_SUITE_P(Plans, WeightAverage,
                         testing::Values(PlanCase{"mp", "mp", {1, 1}},
                                         PlanCase{
                                             "gpipe", "gpipe", {1, 1}, 4, OptimiserKind::kAdam},
                                         PlanCase{"straight", "pipedream", {1, 1, 1}},
                                         PlanCase{"replicated", "pipedream", {2, 2}}),
                         [](const auto& of) { return of.param.name; });

TEST(WeightAverageInCheckpoints, IsWhatIsExportedAndEvaluated) {
  const Training training({.name = "mp", .system = "mp", .replicas = {1, 1}, .ema = kDecay});
  const TrainingOutcome outcome = training.run(training.recipe(20));
  const SoundCheckpoint checkpoint =
      one_checkpoint(training.folder() / checkpoint::folder_name(20));
  const PlainWeights exported = weights_of(checkpoint);
  const auto used = weights_to_use(checkpoint);
  const auto own = tensors_of(checkpoint);
  for (const auto& [name, average] : outcome.weights.parameters) {
    EXPECT_TRUE(at::equal(exported.tensors.at(name), average)) << name;
    EXPECT_TRUE(at::equal(*used(name), average)) << name;
    if (name == "fc.weight") {
      EXPECT_FALSE(at::equal(*own(name), average)) << "the test would show nothing";
    }
  }
}

TEST(WeightAverageOptions, RefuseADecayOfOne) {
  EXPECT_NE(test::message_of<BadUsage>([] {
              (void)make_optimiser({.ema = 1.0});
            }).find("`ema`: wanted a number from 0 to below 1"),
            std::string::npos);
  EXPECT_EQ(copies_of({.kind = OptimiserKind::kAdam, .ema = 0.9}), 3);
}

}  // namespace
}  // namespace pipedream::train
