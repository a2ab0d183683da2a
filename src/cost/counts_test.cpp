#include "cost/counts.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "cost/depths.h"
#include "cost/system_rules_testing.h"

namespace pipedream::cost {
namespace {

// The tests compare with what the systems keep according to docs/systems.md, for S stages without
// replicas and M microbatches. kMostStages and kManyItems are the largest S and M.
constexpr int kMostStages = 8;
constexpr int kManyItems = 16;

// Returns the counts of every stage, the first stage first.
std::vector<PeakCounts> counts_of(const SystemRules& rules, int stages, int items) {
  std::vector<PeakCounts> counts;
  for (const int depth : pipeline_depths(std::vector<int>(static_cast<std::size_t>(stages), 1), 1))
    counts.push_back(peak_counts(rules.traits, depth, 1, items));
  return counts;
}

int largest_in_flight(const std::vector<PeakCounts>& counts) {
  int most = 0;
  for (const PeakCounts& stage : counts) most = std::max(most, stage.in_flight);
  return most;
}

TEST(PeakCounts, OfTheSynchronousRulesHaveOneVersionAndOneGradientBuffer) {
  for (const SystemRules& rules :
       {kModelParallel, kDataParallel, kAsynchronous, kGpipe, kDapple, kInterleaved})
    for (int stages = 1; stages <= kMostStages; ++stages)
      for (int items = 1; items <= kManyItems; ++items)
        for (const PeakCounts& stage : counts_of(rules, stages, items)) {
          EXPECT_EQ(stage.versions, 1);
          EXPECT_EQ(stage.gradients, 1);
        }
}

TEST(PeakCounts, OfModelAndDataParallelHaveOneItemInFlight) {
  for (int stages = 1; stages <= kMostStages; ++stages) {
    EXPECT_EQ(largest_in_flight(counts_of(kModelParallel, stages, 1)), 1);
    EXPECT_EQ(largest_in_flight(counts_of(kModelParallel, stages, 4)), 1);
  }
  EXPECT_EQ(peak_counts(kDataParallel.traits, 1, 16, 1).in_flight, 1);
  EXPECT_EQ(peak_counts(kAsynchronous.traits, 1, 16, 1).in_flight, 1);
}

TEST(PeakCounts, OfGpipeHaveEveryItemInFlightOnEveryStage) {
  for (int stages = 1; stages <= kMostStages; ++stages)
    for (int items = 1; items <= kManyItems; ++items)
      for (const PeakCounts& stage : counts_of(kGpipe, stages, items))
        EXPECT_EQ(stage.in_flight, items);
}

TEST(PeakCounts, OfDappleHaveAsManyInFlightAsStagesOrItemsWhicheverIsLess) {
  for (int stages = 1; stages <= kMostStages; ++stages)
    for (int items = 1; items <= kManyItems; ++items) {
      const std::vector<PeakCounts> counts = counts_of(kDapple, stages, items);
      EXPECT_EQ(largest_in_flight(counts), std::min(stages, items));
      EXPECT_EQ(counts.back().in_flight, 1);
    }
}

TEST(PeakCounts, OfPipedreamHaveAVersionForEachItemInFlight) {
  for (int n = 1; n <= kMostStages; ++n) {
    const std::vector<PeakCounts> counts = counts_of(kPipedream, n, 1);
    for (int i = 1; i <= n; ++i) {
      EXPECT_EQ(counts[static_cast<std::size_t>(i - 1)].in_flight, n - i + 1);
      EXPECT_EQ(counts[static_cast<std::size_t>(i - 1)].versions, n - i + 1);
      EXPECT_EQ(counts[static_cast<std::size_t>(i - 1)].gradients, 1);
    }
  }
}

TEST(PeakCounts, OfTwoBufferedHaveTwoVersionsAndTheStagesInFlight) {
  for (int stages = 1; stages <= kMostStages; ++stages) {
    const std::vector<PeakCounts> counts = counts_of(kTwoBuffered, stages, stages);
    EXPECT_EQ(largest_in_flight(counts), stages);
    for (const PeakCounts& stage : counts) {
      EXPECT_EQ(stage.versions, 2);
      EXPECT_EQ(stage.gradients, 1);
    }
  }
}

TEST(PeakCounts, OfReplicasThatOverlapTheirRoundsHaveTwoGradientBuffers) {
  for (const SystemRules& rules : {kPipedream, kTwoBuffered}) {
    EXPECT_EQ(peak_counts(rules.traits, 3, 2, 4).gradients, 2);
    EXPECT_EQ(peak_counts(rules.traits, 3, 15, 4).gradients, 2);
    EXPECT_EQ(peak_counts(rules.traits, 3, 2, 4).in_flight, 3);
  }
  EXPECT_EQ(peak_counts(kPipedream.traits, 3, 2, 4).versions, 3);
  EXPECT_EQ(peak_counts(kTwoBuffered.traits, 3, 2, 4).versions, 2);
}

TEST(PeakCounts, GradientsAreAddedUpWithTheFirstItemGoneWhereAllWereInFlight) {
  EXPECT_EQ(peak_counts(kGpipe.traits, 1, 1, 4).accumulating, 3);
  EXPECT_EQ(peak_counts(kDapple.traits, 4, 1, 4).accumulating, 3);
  EXPECT_EQ(peak_counts(kDapple.traits, 3, 1, 4).accumulating, 3) << "another took its place";
  EXPECT_EQ(peak_counts(kTwoBuffered.traits, 4, 1, 4).accumulating, 4) << "of the next minibatch";
  EXPECT_EQ(peak_counts(kGpipe.traits, 1, 1, 1).accumulating, 0);
  EXPECT_EQ(peak_counts(kPipedream.traits, 4, 1, 1).accumulating, 0);
}

TEST(PeakCounts, OfReplicasHaveBucketsAndOfAsynchronousOnesServers) {
  for (const SystemRules& rules : {kDataParallel, kDapple, kPipedream, kTwoBuffered}) {
    EXPECT_TRUE(peak_counts(rules.traits, 1, 2, 1).buckets);
    EXPECT_FALSE(peak_counts(rules.traits, 1, 1, 1).buckets);
    EXPECT_EQ(peak_counts(rules.traits, 1, 2, 1).servers, 0);
  }
  for (const int workers : {1, 2, 16}) {
    EXPECT_TRUE(peak_counts(kAsynchronous.traits, 1, workers, 1).buckets);
    EXPECT_EQ(peak_counts(kAsynchronous.traits, 1, workers, 1).servers, workers);
  }
}

TEST(MostInFlight, WithTwoVersionsIsAMinibatchAndOneItem) {
  EXPECT_EQ(most_in_flight(kTwoBuffered.traits, 7, 4), 5);
  EXPECT_EQ(most_in_flight(kTwoBuffered.traits, 3, 4), 3);
  EXPECT_EQ(fewest_microbatches(kTwoBuffered.traits, 4), 4);
  EXPECT_EQ(fewest_microbatches(kDapple.traits, 4), 1);
}

TEST(KeptVersions, AreTwoOrThoseInFlightAtTheFirstStage) {
  EXPECT_EQ(kept_versions(WeightVersions::kTwo, 5), 2);
  EXPECT_EQ(kept_versions(WeightVersions::kVerticalSync, 5), 5);
  for (const auto versions :
       {WeightVersions::kOne, WeightVersions::kStashed, WeightVersions::kUnstashed})
    EXPECT_EQ(kept_versions(versions, 5), 1);
}

TEST(PeakCounts, OfSeveralMinibatchesPerUpdateHaveFewerVersions) {
  std::vector<int> versions;
  for (int accumulate = 1; accumulate <= 5; ++accumulate)
    versions.push_back(peak_counts(kPipedream.traits, 5, 1, {1, accumulate}).versions);
  EXPECT_EQ(versions, (std::vector{5, 3, 3, 2, 2}));
  EXPECT_EQ(peak_counts(kPipedream.traits, 1, 1, {1, 4}).versions, 1);
  EXPECT_EQ(kept_versions(WeightVersions::kVerticalSync, 5, 2), 3);
}

// The pipeline of gpipe drains after each of the minibatches, that of dapple only after all.
TEST(PeakCounts, OfSeveralMinibatchesPerUpdateAddUpAlsoWhereMinibatchesAreNotCut) {
  EXPECT_EQ(peak_counts(kModelParallel.traits, 1, 1, {1, 2}).accumulating, 1);
  EXPECT_EQ(peak_counts(kPipedream.traits, 3, 1, {1, 2}).accumulating, 3);
  EXPECT_EQ(peak_counts(kGpipe.traits, 1, 1, {4, 2}).in_flight, 4);
  EXPECT_EQ(peak_counts(kGpipe.traits, 1, 1, {4, 2}).accumulating, 4);
  EXPECT_EQ(peak_counts(kDapple.traits, 7, 1, {4, 2}).in_flight, 7);
  EXPECT_EQ(peak_counts(kDapple.traits, 9, 1, {4, 2}).in_flight, 8);
  EXPECT_EQ(peak_counts(kDapple.traits, 9, 1, {4, 2}).accumulating, 7);
}

TEST(MostInFlight, WithTwoVersionsIsAnUpdateAndOneItem) {
  EXPECT_EQ(most_in_flight(kTwoBuffered.traits, 12, {4, 2}), 9);
  EXPECT_EQ(fewest_microbatches(kTwoBuffered.traits, 5, 2), 3);
}

}  // namespace
}  // namespace pipedream::cost
