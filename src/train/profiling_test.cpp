#include "train/profiling.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/machine.h"
#include "core/testing.h"
#include "model/zoo.h"

namespace pipedream::train {
namespace {

profile::Profile profile_mlp(const OptimiserOptions& optimiser, int workers = 1) {
  const model::NetworkEntry& entry = model::zoo_entry("mlp");
  const model::Network mlp = entry.make(model::Options(entry.options, {{"inputs", "64"}}), 16);
  return profile_for_training(
      mlp, {.budget = std::chrono::duration<double>(0.2), .workers = workers}, optimiser);
}

TEST(ProfileForTraining, IsTakenInTheCompanyOfNoMoreWorkersThanThereAreCores) {
  const int most = profile_mlp({}, 100'000).workers.value_or(1);
  EXPECT_EQ(most, cores());
}

TEST(ProfileForTraining, HasAnUpdateForEachLayerWithWeights) {
  for (const OptimiserKind kind : {OptimiserKind::kSgd, OptimiserKind::kMomentum,
                                   OptimiserKind::kAdam, OptimiserKind::kAdamW}) {
    const profile::Profile profile = profile_mlp({.kind = kind, .weight_decay = 0.01});
    for (std::size_t i = 0; i < profile.costs.size(); ++i)
      EXPECT_EQ(profile.costs[i].update.count() > 0, profile.costs[i].weights.count > 0)
          << to_text(kind) << ", " << profile.graph.layers()[i].name;
  }
}

TEST(ProfileForTraining, HasATimeOfAveragingByWeightsWhereThereAreSeveralWorkers) {
  if (cores() < 2) GTEST_SKIP() << "several workers want several cores";
  EXPECT_EQ(total_averaging(profile_mlp({})), Nanos(0));
  const profile::Profile profile = profile_mlp({}, cores());
  const auto all = static_cast<double>(total_averaging(profile).count());
  EXPECT_GT(all, 0) << "where all cores compute, sums take their time";
  for (const profile::LayerCost& cost : profile.costs) {
    const double share =
        static_cast<double>(cost.weights.count) / static_cast<double>(total_weights(profile).count);
    EXPECT_NEAR(static_cast<double>(cost.averaging.count()), all * share, 10) << "nanoseconds";
  }
}

TEST(ProfileForTraining, RefusesNumbersThatNoOptimiserTakes) {
  EXPECT_EQ(test::message_of<BadUsage>([] { (void)profile_mlp({.momentum = 1}); }),
            "`momentum`: wanted a number from 0 to below 1, found 1");
}

}  // namespace
}  // namespace pipedream::train
