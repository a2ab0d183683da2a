// The time of updates is part of the backwards, and nothing hides it.
#include <gtest/gtest.h>

#include "cost/buckets.h"
#include "schedule/bulk_synchronous.h"
#include "schedule/dapple.h"
#include "schedule/gpipe.h"
#include "schedule/two_buffered.h"
#include "simulate/simulate_testing.h"

namespace pipedream::simulate {
namespace {

using schedule::plan_of;
using schedule::whole_minibatches;

TEST(Updates, OfTheSlowestStageSlowAStraightPipelineDownByWhatTheyTake) {
  Case with = equal_stages(4, {10, 20});
  const auto period = [&] {
    const auto ends = ends_of_backwards(
        run(one_f_one_b(with.plan, whole_minibatches(with.plan, 60)), with).timeline);
    return (ends.at(50) - ends.at(30)) / 20;
  };
  EXPECT_EQ(period(), Nanos(30));
  with.profile.costs[1].update = Nanos(7);
  with.profile.costs[2].update = Nanos(4);
  EXPECT_EQ(period(), Nanos(37));
}

// A minibatch has four microbatches and one update.
TEST(Updates, KeepAWorkerBusyOncePerMinibatch) {
  constexpr int kMinibatches = 6;
  Case with = equal_stages(2, {10, 20}, 4);
  for (profile::LayerCost& cost : with.profile.costs) cost.update = Nanos(12);
  for (const schedule::Generate make : std::initializer_list<schedule::Generate>{
           schedule::gpipe, schedule::dapple, schedule::two_buffered}) {
    const Ran ran = run(make(with.plan, whole_minibatches(with.plan, kMinibatches)), with);
    Nanos busy{0};
    for (const timeline::Event& event : ran.timeline.events)
      if (std::holds_alternative<schedule::Forward>(event.op) ||
          std::holds_alternative<schedule::Backward>(event.op))
        busy += event.end - event.start;
    EXPECT_EQ(busy, 2 * kMinibatches * Nanos(4 * (10 + 20) + 12));
  }
}

// Returns the time of one round of data parallelism on two workers. Both layers fill one bucket
// each. `update` and `averaging` are the profile's times for both layers; `bandwidth` is in bytes
// per second.
Nanos round_of(Nanos update, double bandwidth, Nanos averaging = Nanos(0)) {
  graph::Builder builder;
  Case with{plan_of({2}, {1}), {}, room(2, Nanos(0), bandwidth)};
  for (int i = 0; i < 2; ++i) {
    with.plan.stages[0].layers.push_back(
        builder.add_layer("l" + std::to_string(i), "", {{"out", {}, Bytes{0}}}));
    with.profile.costs.push_back({.forward = Nanos(1'000'000),
                                  .backward = Nanos(10'000'000),
                                  .weights = BucketSizes{}.others,
                                  .update = update / 2,
                                  .averaging = averaging / 2});
  }
  builder.add_edge(LayerId{0}, 0, LayerId{1});
  with.profile.graph = std::move(builder).build();
  const auto ends = ends_of_backwards(
      run(bulk_synchronous(with.plan, whole_minibatches(with.plan, 20)), with).timeline);
  return ends.at(14) - ends.at(12);
}

// Averaging a bucket takes 0.03, 6.6 or 26 ms. The backward of a layer takes 10 ms.
TEST(Updates, DoNotHideBehindAveraging) {
  constexpr Nanos kUpdate(5'000'000);
  for (const double bandwidth : {1e12, 4e9, 1e9})
    EXPECT_EQ(round_of(kUpdate, bandwidth), round_of(Nanos(0), bandwidth) + kUpdate) << bandwidth;
}

TEST(Averaging, TakesOfItsProcessorWhatTheProfileSaysWhateverItsLinksTake) {
  constexpr Nanos kAveraging(3'000'000);
  for (const double bandwidth : {1e12, 4e9, 1e9})
    EXPECT_EQ(round_of(Nanos(0), bandwidth, kAveraging), round_of(Nanos(0), bandwidth) + kAveraging)
        << bandwidth;
}

TEST(Averaging, CostsAStageWithoutReplicasNothing) {
  Case with = equal_stages(3, {10, 20});
  const auto timeline = [&] {
    return run(one_f_one_b(with.plan, whole_minibatches(with.plan, 9)), with).timeline.events;
  };
  const auto before = timeline();
  for (profile::LayerCost& cost : with.profile.costs) cost.averaging = Nanos(7);
  EXPECT_EQ(timeline(), before);
}

}  // namespace
}  // namespace pipedream::simulate
