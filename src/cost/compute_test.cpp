#include "cost/compute.h"

#include <gtest/gtest.h>

namespace pipedream::cost {
namespace {

TEST(TimeOfPart, IsWhatIsFixedAndItsShareOfTheRest) {
  EXPECT_EQ(time_of_part(Seconds(10), Seconds(2), 0.5), Seconds(2 + 8 * 0.5));
  EXPECT_EQ(time_of_part(Seconds(10), Seconds(2), 0.125), Seconds(2 + 8 * 0.125));
  EXPECT_EQ(time_of_part(Seconds(10), Seconds(10), 0.125), Seconds(10)) << "all of it is fixed";
  EXPECT_EQ(time_of_part(Seconds(10), Seconds(2), 3), Seconds(2 + 8 * 3)) << "of three minibatches";
}

TEST(TimeOfPart, WithoutAnythingFixedIsTheShareToTheLastBit) {
  for (const double share : {1.0 / 3, 0.1, 0.7, 2.0})
    EXPECT_EQ(time_of_part(Seconds(0.3), Seconds(0), share), Seconds(0.3 * share));
}

TEST(TimeOfPart, IsNothingWhereThereIsNothingToRun) {
  EXPECT_EQ(time_of_part(Seconds(10), Seconds(2), 0), Seconds(0));
}

TEST(TimeInParts, IsThatOfAllPartsTogether) {
  EXPECT_EQ(time_in_parts(Seconds(10), Seconds(2), 1), Seconds(10));
  EXPECT_EQ(time_in_parts(Seconds(10), Seconds(2), 0.25), Seconds(10 + 3 * 2));
  EXPECT_EQ(time_in_parts(Seconds(10), Seconds(2), 2), Seconds(9))
      << "half of what two take at once";
}

TEST(StageTime, SumsTheLayersOfTheStage) {
  profile::Profile profile;
  profile.costs = {{.forward = Nanos(1), .backward = Nanos(10), .fixed_forward = Nanos(1)},
                   {.forward = Nanos(200), .backward = Nanos(3000), .fixed_forward = Nanos(70)},
                   {.forward = Nanos(40'000),
                    .backward = Nanos(500'000),
                    .fixed_forward = Nanos(30'000),
                    .fixed_backward = Nanos(200'000)}};
  const StageTime time = stage_time(profile, {LayerId{0}, LayerId{2}}, false);
  EXPECT_EQ(time.forward, Nanos(40'001));
  EXPECT_EQ(time.backward, Nanos(500'010));
  EXPECT_EQ(time.fixed_forward, Nanos(30'001));
  EXPECT_EQ(time.fixed_backward, Nanos(200'000));
}

TEST(StageTime, CountsUpdatesWithTheBackward) {
  profile::Profile profile;
  profile.costs = {{.forward = Nanos(1), .backward = Nanos(10), .update = Nanos(7)},
                   {.forward = Nanos(2), .backward = Nanos(20)},
                   {.forward = Nanos(4), .backward = Nanos(40), .update = Nanos(500)}};
  const StageTime time = stage_time(profile, {LayerId{0}, LayerId{1}, LayerId{2}}, false);
  EXPECT_EQ(time.forward, Nanos(7));
  EXPECT_EQ(time.backward, Nanos(70 + 507));
}

TEST(StageTime, CountsAveragingWithTheBackwardOfReplicas) {
  profile::Profile profile;
  profile.costs = {{.backward = Nanos(10), .update = Nanos(7), .averaging = Nanos(300)},
                   {.forward = Nanos(2), .backward = Nanos(20)},
                   {.backward = Nanos(40), .averaging = Nanos(5000)}};
  const std::vector<LayerId> layers{LayerId{0}, LayerId{1}, LayerId{2}};
  EXPECT_EQ(stage_time(profile, layers, false).backward, Nanos(77));
  EXPECT_EQ(stage_time(profile, layers, true).backward, Nanos(5377));
  EXPECT_EQ(stage_time(profile, layers, true).forward, Nanos(2));
}

TEST(StageTime, OfNoLayersIsZero) {
  const StageTime time = stage_time({}, {}, true);
  EXPECT_EQ(time.forward, Nanos(0));
  EXPECT_EQ(time.backward, Nanos(0));
}

TEST(ItemShare, IsTheMinibatchesOverTheMicrobatches) {
  EXPECT_DOUBLE_EQ(ItemShare{}.of_minibatch(), 1);
  EXPECT_DOUBLE_EQ((ItemShare{.microbatches = 8}.of_minibatch()), 1.0 / 8);
  EXPECT_DOUBLE_EQ((ItemShare{.minibatches = 2, .microbatches = 8}.of_minibatch()), 0.25);
}

TEST(ItemShare, IsDividedAmongTheReplicasThatShareIt) {
  const ItemShare item{.minibatches = 2, .microbatches = 4, .replicas = 4};
  EXPECT_EQ(item.busy_replicas(), 4) << "nobody knows how many samples there are";
  for (int replica = 0; replica < 4; ++replica) EXPECT_DOUBLE_EQ(item.on_replica(replica), 0.5 / 4);
}

// A minibatch of 6 samples is cut into two items, so 4 replicas share 3 samples.
TEST(ItemShare, LeavesReplicasIdleThatGetNoSample) {
  const ItemShare item{.microbatches = 2, .replicas = 4, .batch = 6};
  EXPECT_EQ(item.busy_replicas(), 3);
  EXPECT_DOUBLE_EQ(item.on_replica(0), 0.5 / 3);
  EXPECT_DOUBLE_EQ(item.on_replica(2), 0.5 / 3);
  EXPECT_EQ(item.on_replica(3), 0);
  EXPECT_EQ((ItemShare{.microbatches = 2, .replicas = 2, .batch = 6}.busy_replicas()), 2);
  EXPECT_EQ((ItemShare{.microbatches = 64, .replicas = 2, .batch = 6}.busy_replicas()), 1)
      << "somebody has the item, even if it is less than a sample";
}

TEST(ItemShare, OfAllBusyReplicasAddsUpToTheItem) {
  for (int replicas = 1; replicas <= 9; ++replicas)
    for (int samples = 1; samples <= 12; ++samples) {
      const ItemShare item{.microbatches = 3, .replicas = replicas, .batch = samples};
      double sum = 0;
      for (int replica = 0; replica < replicas; ++replica) sum += item.on_replica(replica);
      EXPECT_NEAR(sum, 1.0 / 3, 1e-12);
    }
}

}  // namespace
}  // namespace pipedream::cost
