#include "schedule/counts.h"

#include <gtest/gtest.h>

#include "cost/depths.h"
#include "schedule/asynchronous.h"
#include "schedule/bulk_synchronous.h"
#include "schedule/dapple.h"
#include "schedule/gpipe.h"
#include "schedule/interleaved.h"
#include "schedule/model_parallel.h"
#include "schedule/schedule_testing.h"
#include "schedule/two_buffered.h"
#include "schedule/worker_counter_testing.h"

namespace pipedream::schedule {

void PrintTo(const Counts& counts, std::ostream* out) {
  *out << counts.versions << " versions, " << counts.gradients << " gradients, " << counts.in_flight
       << " in flight";
}

namespace {

// Returns the peak counts of every stage. Expects that all replicas of a stage have the same.
std::vector<Counts> peaks(const Schedule& schedule, std::size_t stages) {
  std::vector<Counts> found(stages);
  std::vector<bool> seen(stages);
  for (const Program& program : programs_of(schedule)) {
    WorkerCounter counter(schedule.rules);
    for (const Op& op : program.ops) counter.add(op);
    for (const auto& [stage, of] : counter.stages()) {
      if (!seen[stage.index()]) found[stage.index()] = of.peak();
      seen[stage.index()] = true;
      EXPECT_EQ(of.peak(), found[stage.index()]) << "all replicas keep as much";
    }
  }
  return found;
}

plan::Plan straight_plan(int stages) {
  return plan_of(std::vector<int>(static_cast<std::size_t>(stages), 1), straight_depths(stages));
}

std::vector<Counts> each(int stages, Counts counts) {
  return std::vector<Counts>(static_cast<std::size_t>(stages), counts);
}

// ---- One stage, op by op ----

TEST(Counter, AVersionLivesWhileAForwardThatBeganOnItHasNoBackward) {
  Counter counter(Rules{});
  EXPECT_EQ(counter.peak(), (Counts{1, 0, 0}));
  counter.forward({0});
  counter.forward({0});
  EXPECT_EQ(counter.peak(), (Counts{1, 0, 2}));
  counter.backward({0});
  counter.update({1});
  EXPECT_EQ(counter.peak(), (Counts{2, 1, 2})) << "the second item still needs version 0";
  counter.backward({0});
  counter.update({2});
  EXPECT_EQ(counter.peak(), (Counts{2, 1, 2})) << "version 2 is made in the place of version 1";
}

TEST(Counter, WithoutStashingThereIsOneVersion) {
  Counter counter(Rules{.traits = {.versions = WeightVersions::kUnstashed}});
  counter.forward({0});
  counter.forward({0});
  counter.backward({0});
  counter.update({1});
  counter.backward({1});
  counter.update({2});
  EXPECT_EQ(counter.peak(), (Counts{1, 1, 2}));
}

TEST(Counter, TheNewestVersionsAreKeptAsTheRulesSay) {
  Counter counter(Rules{.traits = {.versions = WeightVersions::kVerticalSync}, .in_flight = {3}});
  for (int version = 1; version <= 5; ++version) {
    counter.update({version});
    EXPECT_EQ(counter.peak().versions, std::min(version + 1, 3));
  }
}

TEST(Counter, GradientsThatAreAveragedNeedABufferBesideThoseThatAreGathered) {
  Counter counter(Rules{});
  counter.forward({0});
  counter.backward({0});
  counter.reduce();
  EXPECT_EQ(counter.peak().gradients, 1);
  counter.forward({0});
  counter.backward({0});
  EXPECT_EQ(counter.peak().gradients, 2);
  counter.reduce();
  EXPECT_EQ(counter.peak().gradients, 2);
  counter.update({1});
  counter.forward({1});
  counter.backward({1});
  EXPECT_EQ(counter.peak().gradients, 2);
}

TEST(WorkerCounter, CountsEachStageByItselfAndABackwardOnceItIsWhole) {
  WorkerCounter counter(Rules{});
  for (const int stage : {0, 1}) {
    counter.add(Forward{StageId{stage}, {0, 0}, {0}});
    counter.add(Load{StageId{stage}, {1, 0}});
  }
  counter.add(Backward{StageId{1}, {0, 0}, {0}, BackwardPart::kInput});
  counter.add(Forward{StageId{1}, {1, 0}, {0}});
  counter.add(Backward{StageId{1}, {0, 0}, {0}, BackwardPart::kWeight});
  counter.add(Forward{StageId{1}, {2, 0}, {0}});
  ASSERT_EQ(counter.stages().size(), 2U);
  EXPECT_EQ(counter.stages()[0].counter.peak(), (Counts{1, 0, 1}));
  EXPECT_EQ(counter.stages()[1].counter.peak(), (Counts{1, 1, 2}));
}

// ---- The peaks of every system, for every number of stages and microbatches ----

constexpr int kStages = 8;
constexpr int kMicrobatches = 64;

TEST(PeakCounts, ModelParallelKeepsOneOfEach) {
  for (int n = 1; n <= kStages; ++n)
    EXPECT_EQ(peaks(model_parallel(straight_plan(n), {5, 1, 1}), straight_plan(n).stages.size()),
              each(n, {1, 1, 1}));
}

TEST(PeakCounts, DataParallelKeepsOneOfEach) {
  for (int workers = 1; workers <= kStages; ++workers)
    for (int minibatches = workers; minibatches <= 3 * workers; ++minibatches) {
      EXPECT_EQ(peaks(bulk_synchronous(plan_of({workers}), {minibatches, 1, 1}), 1),
                each(1, {1, 1, 1}));
      EXPECT_EQ(peaks(asynchronous(plan_of({workers}), {minibatches, 1, 1}), 1),
                each(1, {1, 1, 1}));
    }
}

TEST(PeakCounts, GpipeHasAllMicrobatchesInFlight) {
  for (int n = 1; n <= kStages; ++n)
    for (int m = 1; m <= kMicrobatches; ++m)
      EXPECT_EQ(peaks(gpipe(straight_plan(n), {2, m, m}), straight_plan(n).stages.size()),
                each(n, {1, 1, m}));
}

TEST(PeakCounts, DappleHasItsDepthInFlightOrAllMicrobatches) {
  for (int n = 1; n <= kStages; ++n)
    for (int m = 1; m <= kMicrobatches; ++m)
      for (int slack = 1; slack <= 2; ++slack)  // warm-up policies A and B
        for (int replicas = 1; replicas <= 2; ++replicas) {
          std::vector<int> depths;
          std::vector<Counts> wanted;
          for (int i = 0; i < n; ++i) {
            depths.push_back(slack == 1 ? n - i : 2 * (n - i) - 1);
            wanted.push_back({1, 1, std::min(depths.back(), m)});
          }
          const auto plan = plan_of(std::vector<int>(depths.size(), replicas), depths);
          EXPECT_EQ(peaks(dapple(plan, {2, m, m}), depths.size()), wanted);
        }
}

TEST(PeakCounts, PipedreamKeepsAVersionPerItemInFlight) {
  for (int n = 1; n <= kStages; ++n) {
    std::vector<Counts> wanted;
    for (int depth = n; depth >= 1; --depth) wanted.push_back({depth, 1, depth});
    for (int minibatches = 2 * n; minibatches <= 2 * n + 8; ++minibatches)
      EXPECT_EQ(peaks(one_f_one_b(straight_plan(n), {minibatches, 1, 1}), wanted.size()), wanted);
  }
}

TEST(PeakCounts, PipedreamWithReplicasKeepsTwoGradientsAndNoMoreVersionsThanItsDepth) {
  for (int replicas = 2; replicas <= 4; ++replicas)
    for (int depth = 1; depth <= 6; ++depth)
      for (int minibatches = 2 * depth * replicas; minibatches <= (2 * depth + 3) * replicas;
           ++minibatches)
        EXPECT_EQ(peaks(one_f_one_b(plan_of({replicas}, {depth}), {minibatches, 1, 1}), 1),
                  each(1, {depth, 2, depth}))
            << minibatches << " minibatches on " << replicas;
}

TEST(PeakCounts, VerticalSyncKeepsAsManyVersionsAsStagesOnEveryStage) {
  for (int n = 1; n <= kStages; ++n) {
    std::vector<Counts> wanted;
    for (int depth = n; depth >= 1; --depth) wanted.push_back({n, 1, depth});
    EXPECT_EQ(peaks(one_f_one_b(straight_plan(n), {3 * n, 1, 1}, WeightVersions::kVerticalSync),
                    wanted.size()),
              wanted);
  }
}

TEST(PeakCounts, WithoutStashingPipedreamKeepsOneVersion) {
  for (int n = 1; n <= kStages; ++n) {
    std::vector<Counts> wanted;
    for (int depth = n; depth >= 1; --depth) wanted.push_back({1, 1, depth});
    EXPECT_EQ(peaks(one_f_one_b(straight_plan(n), {3 * n, 1, 1}, WeightVersions::kUnstashed),
                    wanted.size()),
              wanted);
  }
}

TEST(PeakCounts, TwoBufferedKeepsTwoVersions) {
  for (int n = 1; n <= kStages; ++n)
    for (int m = std::max(1, n - 1); m <= kMicrobatches; ++m) {
      std::vector<Counts> wanted;
      for (int depth = n; depth >= 1; --depth) wanted.push_back({2, 1, std::min(depth, m + 1)});
      EXPECT_EQ(peaks(two_buffered(straight_plan(n), {4, m, m}), wanted.size()), wanted);
    }
}

TEST(PeakCounts, TwoBufferedWithReplicasKeepsTwoGradientsAlsoWhenTheLastRoundIsNotFull) {
  for (int replicas = 2; replicas <= 3; ++replicas)
    for (int m = 1; m <= 6; ++m)
      for (int depth = 1; depth <= m + 1; ++depth)
        for (int minibatches = 2 * replicas; minibatches <= 5 * replicas; ++minibatches)
          EXPECT_EQ(peaks(two_buffered(plan_of({replicas}, {depth}), {minibatches, m, m}), 1),
                    each(1, {2, 2, depth}))
              << minibatches << " minibatches of " << m << " on " << replicas << ", depth "
              << depth;
}

TEST(PeakCounts, InterleavedKeepsOneVersionAndNoMoreInFlightThanItsRulesSay) {
  for (int workers = 1; workers <= 4; ++workers)
    for (int chunks = 1; chunks <= 3; ++chunks)
      for (int m = 1; m <= kMicrobatches; m += 3) {
        plan::Plan plan = plan_of(std::vector<int>(static_cast<std::size_t>(workers * chunks), 1));
        for (plan::Stage& stage : plan.stages) stage.workers[0].value %= workers;
        const Schedule schedule = interleaved(plan, {2, m, m});
        std::vector<Counts> wanted;
        for (const int in_flight : schedule.rules.in_flight) wanted.push_back({1, 1, in_flight});
        EXPECT_EQ(peaks(schedule, plan.stages.size()), wanted);
        EXPECT_LE(wanted.front().in_flight, m);
      }
}

// ---- Several minibatches per update: the closed forms of cost/counts.h ----

// Expects that the schedules that `generate` makes keep at their peaks what the cost model says.
void expect_predicted_peaks(const cost::Traits& traits, const std::vector<int>& replicas,
                            int microbatches, const std::vector<int>& slacks) {
  for (int accumulate = 1; accumulate <= 4; ++accumulate)
    for (const int slack : slacks) {
      const cost::UpdateItems update{microbatches, accumulate};
      std::vector<int> depths = cost::chosen_depths(traits, replicas, {.slack = slack});
      for (int& depth : depths) depth = cost::most_in_flight(traits, depth, update);
      const plan::Plan plan = accumulating(plan_of(replicas, depths), accumulate);
      const Extent extent{24 * accumulate, microbatches, microbatches};
      const Schedule schedule =
          traits.versions == WeightVersions::kTwo          ? two_buffered(plan, extent, traits)
          : traits.in_flight == cost::InFlight::kMinibatch ? gpipe(plan, extent, traits)
          : traits.flushes && traits.shares_items()        ? dapple(plan, extent, traits)
          : traits.one_stage                               ? bulk_synchronous(plan, extent, traits)
          : traits.flushes                                 ? model_parallel(plan, extent, traits)
                                                           : one_f_one_b(plan, extent, traits);
      const std::vector<Counts> found = peaks(schedule, depths.size());
      for (std::size_t s = 0; s < depths.size(); ++s) {
        const auto wanted = cost::peak_counts(traits, depths[s], replicas[s], update);
        const int versions = traits.versions == WeightVersions::kVerticalSync
                                 ? schedule.rules.kept()
                                 : wanted.versions;
        EXPECT_EQ(found[s], (Counts{versions, wanted.gradients, wanted.in_flight}))
            << "stage " << s << " of " << depths.size() << ", depth " << depths[s] << ", "
            << accumulate << " minibatches per update, slack " << slack;
      }
    }
}

TEST(PeakCountsOfSeveralMinibatchesPerUpdate, AreThoseThatTheCostModelPredicts) {
  for (int stages = 1; stages <= 5; ++stages) {
    const std::vector<int> straight(static_cast<std::size_t>(stages), 1);
    expect_predicted_peaks(cost::kModelParallel.traits, straight, 1, {1});
    cost::Traits synced = cost::kPipedream.traits;
    synced.versions = WeightVersions::kVerticalSync;
    expect_predicted_peaks(synced, straight, 1, {1, 2});
    for (const int microbatches : {1, 3}) {
      expect_predicted_peaks(cost::kGpipe.traits, straight, microbatches, {1});
      expect_predicted_peaks(cost::kDapple.traits, straight, microbatches, {1, 2});
      expect_predicted_peaks(cost::kTwoBuffered.traits, straight, microbatches, {1, 2});
    }
    expect_predicted_peaks(cost::kPipedream.traits, straight, 1, {1, 2});
  }
  for (const std::vector<int>& replicas : {std::vector{2}, {3}, {2, 1}, {1, 2}, {3, 2, 1}})
    expect_predicted_peaks(cost::kPipedream.traits, replicas, 1, {1, 2});
  expect_predicted_peaks(cost::kDataParallel.traits, {3}, 1, {1});
  expect_predicted_peaks(cost::kTwoBuffered.traits, {2, 2, 2}, 2, {1, 2});
  expect_predicted_peaks(cost::kDapple.traits, {2, 3, 1}, 2, {1, 2});
}

}  // namespace
}  // namespace pipedream::schedule
