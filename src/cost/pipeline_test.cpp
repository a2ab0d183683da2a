#include "cost/pipeline.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "cost/depths.h"
#include "cost/memory.h"

namespace pipedream::cost {
namespace {

using Steps = std::vector<PipelineStep>;
using Times = std::vector<Seconds>;

PipelineStep step(double forward, double backward) { return {Seconds(forward), Seconds(backward)}; }

// Returns the time of all forwards, then all backwards, if every item passes every step, first come
// first served.
double gpipe_by_events(const Steps& steps, int items) {
  std::vector<double> free(steps.size(), 0);  // when each step can begin its next item
  for (int item = 0; item < items; ++item) {
    double arrives = 0;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      free[s] = std::max(free[s], arrives) + steps[s].forward.count();
      arrives = free[s];
    }
  }
  for (int item = 0; item < items; ++item) {
    double arrives = 0;
    for (std::size_t s = steps.size(); s-- > 0;) {
      free[s] = std::max(free[s], arrives) + steps[s].backward.count();
      arrives = free[s];
    }
  }
  return *std::max_element(free.begin(), free.end());
}

TEST(GpipeTime, OfEqualStagesIdlesForStagesLessOneOfTheSlots) {
  for (const double backward : {0.5, 1.0, 2.0, 3.0})
    for (int stages = 1; stages <= 8; ++stages)
      for (int items = 1; items <= 64; ++items) {
        const Steps steps(static_cast<std::size_t>(stages), step(1, backward));
        const double time = gpipe_latency(steps, items).count();
        const double busy = items * (1 + backward);
        EXPECT_NEAR((time - busy) / time, (stages - 1.0) / (items + stages - 1), 1e-15);
      }
}

TEST(GpipeTime, IsThatOfEveryItemPassingEveryStep) {
  std::mt19937 any(1);
  for (int round = 0; round < 500; ++round) {
    Steps steps;
    for (std::size_t s = any() % 8 + 1; s > 0; --s)
      steps.push_back(step(static_cast<double>(any() % 10), static_cast<double>(any() % 10)));
    const int items = static_cast<int>(any() % 12) + 1;
    EXPECT_EQ(gpipe_latency(steps, items).count(), gpipe_by_events(steps, items));
  }
}

TEST(GpipeTime, WaitsForTheSlowestStepOfEachDirectionBesidesTheWayOnce) {
  // The slowest forward and the slowest backward are in different steps.
  EXPECT_EQ(gpipe_latency(Steps{step(1, 7), step(5, 2), step(3, 3)}, 4).count(),
            (1 + 5 + 3) + (7 + 2 + 3) + 3 * (5 + 7));
}

double dapple(const Steps& steps, const std::vector<double>& exchange, int items, double loop = 0) {
  Times times;
  for (const double time : exchange) times.emplace_back(time);
  return dapple_latency(steps, times, items, Seconds(loop)).count();
}

TEST(DappleTime, OfOneStageIsItsItemsAndItsExchange) {
  for (int items = 1; items <= 5; ++items)
    EXPECT_EQ(dapple({step(1, 2)}, {4}, items), 1 + (items - 1) * (1 + 2) + 2 + 4);
}

TEST(DappleTime, OfEqualStagesIsThatOfGpipe) {
  for (int stages = 1; stages <= 8; ++stages)
    for (int items = 1; items <= 32; ++items) {
      const Steps steps(static_cast<std::size_t>(stages), step(1, 2));
      const std::vector<double> none(static_cast<std::size_t>(stages), 0);
      EXPECT_EQ(dapple(steps, none, items), gpipe_latency(steps, items).count());
    }
}

TEST(DappleTime, PivotsOnTheLastStageWhereNoOtherIsMuchSlower) {
  // The first stage is not slow enough to be the pivot: 2·4 is more than 2·3, but not more than 2·3
  // + 3. Warm-up 1 + 1, two more items of 3, backwards 2 + 3.
  EXPECT_EQ(dapple({step(1, 3), step(1, 2)}, {0, 0}, 3), 2 + 2 * 3 + 5);
}

TEST(DappleTime, PivotsOnAnEarlierStageThatIsMuchSlower) {
  // The first stage is the pivot, since 3·9 > 3·3 + 3: warm-up 3, three items of 9, backward 6.
  EXPECT_EQ(dapple({step(3, 6), step(1, 2)}, {0, 0}, 4), 3 + 3 * 9 + 6);
  // The middle stage is the pivot: warm-up 1 + 3, three more items of 9, backwards 6 + 2.
  EXPECT_EQ(dapple({step(1, 2), step(3, 6), step(1, 2)}, {0, 0, 0}, 4), 4 + 3 * 9 + 8);
}

TEST(DappleTime, OfOneItemIsTheWayThereAndBack) {
  EXPECT_EQ(dapple({step(3, 6), step(1, 2), step(5, 4)}, {0, 0, 0}, 1), 9 + 12);
}

// The bubble between is counted from the current pivot. The second step becomes the pivot instead
// of the third, since 12 > 4 + 1. Then the first becomes it instead of the second, since 16 > 12 +
// 3. Counted from the third step, the bubble would be 4, and 16 > 12 + 4 is false.
TEST(DappleTime, MovesThePivotStepByStep) {
  EXPECT_EQ(dapple({step(2, 2), step(1.5, 1.5), step(0.5, 0.5)}, {0, 0, 0}, 5), 2 + 16 + 2);
}

TEST(DappleTime, WaitsForTheExchangesUpToThePivotAfterTheirBackwards) {
  // The pivot is step 2. Warm-up 3, three more items of 3; then the last backward ends after 2 on
  // the last step, after 4 on the middle one and after 6 on the first.
  const Steps steps(3, step(1, 2));
  EXPECT_EQ(dapple(steps, {5, 0, 0}, 4), 3 + 9 + 6 + 5);
  EXPECT_EQ(dapple(steps, {0, 5, 0}, 4), 3 + 9 + 4 + 5);
  EXPECT_EQ(dapple(steps, {0, 0, 5}, 4), 3 + 9 + 2 + 5);
  EXPECT_EQ(dapple(steps, {0, 2, 4}, 4), 3 + 9 + 6) << "hidden behind the first's backward";
}

TEST(DappleTime, HidesTheExchangesBehindThePivotUnderTheBackwardsBefore) {
  // The pivot is step 0, since 3·9 > 3·3 + 6. Warm-up 3, three more items of 9, then the backward
  // of 6 or an exchange that takes longer.
  const Steps steps{step(3, 6), step(1, 2), step(1, 2)};
  EXPECT_EQ(dapple(steps, {0, 6, 0}, 4), 3 + 27 + 6);
  EXPECT_EQ(dapple(steps, {0, 7, 0}, 4), 3 + 27 + 7);
  EXPECT_EQ(dapple(steps, {0, 0, 8}, 4), 3 + 27 + 6) << "it began a backward earlier";
  EXPECT_EQ(dapple(steps, {0, 0, 9}, 4), 3 + 27 + 9 - 2);
  EXPECT_EQ(dapple(steps, {1, 0, 8}, 4), 3 + 27 + 6 + 1);
}

TEST(DappleTime, LetsNoItemFollowSoonerThanTheLoopAllows) {
  const Steps steps(2, step(1, 2));
  EXPECT_EQ(dapple(steps, {0, 0}, 4, 3), dapple(steps, {0, 0}, 4));
  EXPECT_EQ(dapple(steps, {0, 0}, 4, 5), 2 + 3 * 5 + 4);
  EXPECT_EQ(dapple(steps, {0, 0}, 1, 5), 2 + 4) << "one item follows nobody";
}

TEST(DappleTime, CountsATransferAsAStepWithoutExchange) {
  EXPECT_EQ(dapple({step(1, 2), step(1, 1), step(1, 2)}, {0, 0, 0}, 4), 3 + 9 + 5);
}

// Four stages with F = 1 and B = 2, and transfers of 1. The slowest of compute and transfers alone
// would give 3.
TEST(LoopLimit, OfTheExampleIsFourAndAHalf) {
  const std::vector<int> straight(4, 1);
  const auto longest = [&](int slack) {
    const std::vector<int> depths = pipeline_depths(straight, slack);
    std::vector<double> limits;
    for (int i = 0; i < 4; ++i)
      limits.push_back(loop_limit(Seconds((4 - i) * (1 + 2) + 2 * (3 - i)), 1,
                                  depths[static_cast<std::size_t>(i)])
                           .count());
    return limits;
  };
  EXPECT_EQ(longest(1), (std::vector<double>{18.0 / 4, 13.0 / 3, 8.0 / 2, 3}));
  EXPECT_EQ(longest(1)[0], 4.5);
  for (const double limit : longest(2)) EXPECT_LE(limit, 3) << "slack 2 hides the transfers";
}

TEST(LoopLimit, IsSharedByTheReplicas) { EXPECT_EQ(loop_limit(Seconds(18), 2, 3).count(), 3); }

double overlapped(const Steps& layers, const std::vector<double>& exchange) {
  Times times;
  for (const double time : exchange) times.emplace_back(time);
  return overlapped_step(layers, times).count();
}

TEST(OverlappedStep, WithoutExchangesIsTheCompute) {
  EXPECT_EQ(overlapped({step(1, 2), step(3, 4), step(5, 6)}, {0, 0, 0}), 9 + 12);
}

TEST(OverlappedStep, HidesTheLaterLayersExchangesUnderTheEarlierLayersBackwards) {
  // The forwards end at 2, the backward of the second layer at 4, the backward of the first at 6.
  const Steps layers(2, step(1, 2));
  EXPECT_EQ(overlapped(layers, {0, 2}), 6);
  EXPECT_EQ(overlapped(layers, {0, 3}), 7);
  EXPECT_EQ(overlapped(layers, {3, 1}), 6 + 3) << "nothing hides the first layer's";
  EXPECT_EQ(overlapped(layers, {3, 5}), 4 + 5 + 3) << "one exchange at a time";
}

TEST(OverlappedStep, ExchangesInTheOrderOfTheBackwards) {
  // The forwards end at 3, the backwards of the third, second and first layer at 13, 14 and 15. The
  // second layer's exchange waits for the third layer's, which ends at 17. The first layer's begins
  // at 18.
  EXPECT_EQ(overlapped({step(1, 1), step(1, 1), step(1, 10)}, {2, 1, 4}), 13 + 4 + 1 + 2);
  // Between two exchanges the links may be idle until the next gradient exists.
  EXPECT_EQ(overlapped({step(1, 10), step(1, 1), step(1, 1)}, {2, 1, 4}), 3 + 12 + 2);
}

TEST(OverlappedStep, OfNoLayersIsZero) { EXPECT_EQ(overlapped({}, {}), 0); }

}  // namespace
}  // namespace pipedream::cost
