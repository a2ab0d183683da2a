// A microbatch takes the fixed time of its layers and its share of the rest, in simulations as in
// predictions.
#include <gtest/gtest.h>

#include "cost/buckets.h"
#include "plan/predict.h"
#include "schedule/dapple.h"
#include "schedule/gpipe.h"
#include "schedule/interleaved.h"
#include "schedule/two_buffered.h"
#include "simulate/simulate_testing.h"

namespace pipedream::simulate {
namespace {

using schedule::plan_of;
using schedule::whole_minibatches;

constexpr double kRounding = 2e-9;  // seconds per op

// Returns the case with these fixed times of each stage.
Case with_fixed(Case with, const std::vector<Times>& fixed) {
  for (std::size_t s = 0; s < fixed.size(); ++s) {
    with.profile.costs[s].fixed_forward = Nanos(fixed[s].forward);
    with.profile.costs[s].fixed_backward = Nanos(fixed[s].backward);
  }
  return with;
}

Case straight_case(const std::vector<Times>& times, const std::vector<Times>& fixed,
                   int microbatches) {
  const auto stages = static_cast<int>(times.size());
  plan::Plan plan = plan_of(std::vector<int>(times.size(), 1), schedule::straight_depths(stages));
  plan.microbatches = microbatches;
  return with_fixed(chain_case(std::move(plan), times), fixed);
}

plan::Prediction prediction_of(Case with, const cost::SystemRules& rules) {
  for (cluster::Device& device : with.cluster.devices) device.memory = Bytes{std::int64_t{1} << 50};
  plan::Layout layout;
  for (const plan::Stage& stage : with.plan.stages) {
    layout.ends.push_back(layout.ends.back() + stage.layers.size());
    layout.workers.push_back(stage.workers);
  }
  const plan::Cuts cuts(with.profile);
  plan::Setting setting{.rules = rules, .microbatches = with.plan.microbatches};
  if (with.plan.stages.front().recompute) setting.recompute = plan::Recompute::kAlways;
  return plan::Predictor(cuts, with.cluster, setting).predict(layout);
}

Nanos busy(const timeline::Timeline& timeline, StageId stage) {
  Nanos sum{0};
  for (const timeline::Event& event : timeline.events)
    if (const auto work = schedule::work_of(event.op); work && work->stage == stage)
      sum += event.end - event.start;
  return sum;
}

// A minibatch takes 40 + 80 ns, of which 8 + 20 ns are fixed, and is cut into four microbatches.
TEST(FixedCosts, ComeWithEveryMicrobatch) {
  const Case with = straight_case({{10, 20}, {10, 20}}, {{8, 20}, {8, 20}}, 4);
  for (const schedule::Generate make : std::initializer_list<schedule::Generate>{
           schedule::gpipe, schedule::dapple, schedule::two_buffered})
    for (const timeline::Event& event :
         run(make(with.plan, whole_minibatches(with.plan, 3)), with).timeline.events) {
      if (!schedule::work_of(event.op)) continue;
      const bool forward = std::holds_alternative<schedule::Forward>(event.op);
      EXPECT_EQ(event.end - event.start, forward ? Nanos(8 + 32 / 4) : Nanos(20 + 60 / 4));
    }
}

TEST(FixedCosts, OfAForwardComeWithItsRecomputationToo) {
  Case with = straight_case({{10, 20}}, {{8, 0}}, 4);
  with.plan.stages[0].recompute = true;
  int recomputed = 0;
  for (const timeline::Event& event :
       run(gpipe(with.plan, whole_minibatches(with.plan, 1)), with).timeline.events)
    if (std::holds_alternative<schedule::Recompute>(event.op)) {
      EXPECT_EQ(event.end - event.start, Nanos(8 + 32 / 4));
      ++recomputed;
    }
  EXPECT_EQ(recomputed, 4);
}

TEST(FixedCosts, ChangeNothingWhereMinibatchesAreWhole) {
  const Case with = straight_case({{10, 20}, {30, 5}}, {{8, 20}, {30, 0}}, 1);
  const auto ran = run(one_f_one_b(with.plan, whole_minibatches(with.plan, 5)), with);
  EXPECT_EQ(busy(ran.timeline, {0}), 5 * Nanos(10 + 20));
  EXPECT_EQ(busy(ran.timeline, {1}), 5 * Nanos(30 + 5));
}

// An item is half of the profile's minibatch. The two replicas of stage 0 run half of the item
// each, the one worker of stage 1 runs all of it.
TEST(FixedCosts, ComeOncePerReplicaThatSharesAnItem) {
  plan::Plan plan = plan_of({2, 1}, {2, 1});
  plan.microbatches = 4;
  const Case with =
      with_fixed(chain_case(std::move(plan), {{10, 20}, {10, 20}}), {{8, 20}, {8, 20}});
  for (const timeline::Event& event :
       run(dapple(with.plan, whole_minibatches(with.plan, 2)), with).timeline.events) {
    const auto work = schedule::work_of(event.op);
    if (!work) continue;
    const double share = work->stage == StageId{0} ? 0.25 : 0.5;
    const bool forward = std::holds_alternative<schedule::Forward>(event.op);
    EXPECT_EQ(event.end - event.start,
              from_seconds((forward ? 8 + 32 * share : 20 + 60 * share) * 1e-9));
  }
}

TEST(FixedCosts, KeepEveryStageOfEverySystemBusyForAsLongAsPredicted) {
  constexpr int kMinibatches = 3;
  const std::vector<Times> times{{100, 200}, {70, 310}, {400, 90}, {50, 60}};
  const std::vector<Times> fixed{{90, 10}, {0, 300}, {380, 90}, {7, 0}};
  struct System {
    std::string name;
    cost::SystemRules rules;
    schedule::Generate make;
  };
  for (const System& system : {System{"gpipe", cost::kGpipe, schedule::gpipe},
                               System{"dapple", cost::kDapple, schedule::dapple},
                               System{"2bw", cost::kTwoBuffered, schedule::two_buffered},
                               System{"interleaved", cost::kInterleaved, schedule::interleaved}})
    for (const int microbatches : {4, 5, 8}) {
      Case with = straight_case(times, fixed, microbatches);
      if (system.rules.traits.several_stages_per_worker)
        for (std::size_t s = 0; s < times.size(); ++s)
          with.plan.stages[s].workers = {WorkerId{static_cast<int>(s % 2)}};
      const plan::Prediction prediction = prediction_of(with, system.rules);
      const auto ran =
          run(system.make(with.plan, whole_minibatches(with.plan, kMinibatches)), with);
      for (std::size_t s = 0; s < times.size(); ++s) {
        const plan::StagePrediction& stage = prediction.stages[s];
        EXPECT_NEAR(to_seconds(busy(ran.timeline, id_at<StageId>(s))),
                    kMinibatches * (stage.forward + stage.backward).count(),
                    kMinibatches * microbatches * kRounding)
            << system.name << " with " << microbatches << ", stage " << s;
      }
    }
}

// If transfers take no time, the prediction for gpipe is exact.
TEST(FixedCosts, OfGpipeTakeAsLongAsPredicted) {
  const std::vector<Times> times{{100, 200}, {70, 310}, {400, 90}};
  const std::vector<Times> fixed{{90, 10}, {0, 300}, {380, 90}};
  for (const bool recompute : {false, true})
    for (const int microbatches : {1, 2, 4, 8}) {
      Case with = straight_case(times, fixed, microbatches);
      for (plan::Stage& stage : with.plan.stages) stage.recompute = recompute;
      const auto ran = run(gpipe(with.plan, whole_minibatches(with.plan, 1)), with);
      EXPECT_NEAR(to_seconds(length(ran.timeline)),
                  prediction_of(with, cost::kGpipe).per_minibatch.count(),
                  6 * microbatches * kRounding)
          << microbatches;
    }
}

TEST(FixedCosts, OfTheSlowestStageSetThePaceOfTwoBufferedPipelines) {
  const Case with =
      straight_case({{100, 200}, {70, 310}, {90, 90}}, {{90, 10}, {0, 300}, {0, 0}}, 4);
  const auto ends = ends_of_backwards(
      run(two_buffered(with.plan, whole_minibatches(with.plan, 30)), with).timeline);
  const plan::Prediction prediction = prediction_of(with, cost::kTwoBuffered);
  EXPECT_EQ(prediction.limit, plan::Limit::kCompute);
  EXPECT_DOUBLE_EQ(prediction.per_minibatch.count(), (4 * 70 + 4 * 310 + 3 * 300) * 1e-9);
  EXPECT_NEAR(to_seconds(ends.at(25) - ends.at(15)), 10 * prediction.per_minibatch.count(),
              10 * 8 * kRounding);
}

// Two layers fill one bucket each, and the second layer's bucket is released first. No time of the
// second layer is fixed. So in the backward of a microbatch its bucket is released after a smaller
// share of the time than in the backward of a whole minibatch.
TEST(FixedCosts, DecideWhenTheGradientsOfAMicrobatchAreThere) {
  constexpr int kMicrobatches = 4;
  graph::Builder builder;
  Case with{plan_of({2}, {1}), {}, room(2, Nanos(0), 4e9)};
  with.plan.microbatches = kMicrobatches;
  for (int i = 0; i < 2; ++i) {
    with.plan.stages[0].layers.push_back(
        builder.add_layer("l" + std::to_string(i), "", {{"out", {}, Bytes{0}}}));
    with.profile.costs.push_back({.forward = Nanos(4'000'000),
                                  .backward = Nanos(40'000'000),
                                  .weights = BucketSizes{}.others,
                                  .fixed_backward = Nanos(i == 0 ? 30'000'000 : 0)});
  }
  builder.add_edge(LayerId{0}, 0, LayerId{1});
  with.profile.graph = std::move(builder).build();
  // The backward of a microbatch takes 40/4 ms on the second layer and 30 + 10/4 ms on the first.
  const auto buckets = cost::buckets(with.profile, with.plan.stages[0].layers, 1.0 / kMicrobatches);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_DOUBLE_EQ(buckets[0].released, 10 / (10 + 32.5));
  const auto ran = run(dapple(with.plan, whole_minibatches(with.plan, 1)), with);
  EXPECT_NEAR(to_seconds(length(ran.timeline)),
              2 * prediction_of(with, cost::kDapple).per_minibatch.count(), 20 * kRounding);
}

}  // namespace
}  // namespace pipedream::simulate
