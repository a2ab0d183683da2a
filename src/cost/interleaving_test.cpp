#include "cost/interleaving.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace pipedream::cost {
namespace {

constexpr int kMostWorkers = 8;
constexpr int kMostItems = 16;

std::vector<std::pair<int, int>> turns_of(const Interleaving& order) {
  std::vector<std::pair<int, int>> turns;
  for (int k = 0; k < order.chunks * order.items; ++k)
    turns.emplace_back(order.turn(k).chunk, order.turn(k).microbatch);
  return turns;
}

using Turns = std::vector<std::pair<int, int>>;

TEST(Interleaving, TakesMicrobatchesInGroupsThroughTheChunks) {
  EXPECT_EQ(turns_of({2, 2, 4}),
            (Turns{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}}));
}

TEST(Interleaving, WhatIsLeftOverJoinsTheFirstGroup) {
  EXPECT_EQ(
      turns_of({2, 2, 5}),
      (Turns{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {0, 4}, {1, 3}, {1, 4}}));
  EXPECT_EQ(turns_of({4, 2, 1}), (Turns{{0, 0}, {1, 0}}));
}

TEST(Interleaving, TakesEveryMicrobatchThroughEveryChunkOnce) {
  for (int workers = 1; workers <= kMostWorkers; ++workers)
    for (int chunks = 1; chunks <= 4; ++chunks)
      for (int items = 1; items <= kMostItems; ++items) {
        const Turns turns = turns_of({workers, chunks, items});
        const std::set<std::pair<int, int>> different(turns.begin(), turns.end());
        EXPECT_EQ(different.size(), static_cast<std::size_t>(chunks * items));
        EXPECT_EQ(*different.begin(), (std::pair{0, 0}));
        EXPECT_EQ(*different.rbegin(), (std::pair{chunks - 1, items - 1}));
      }
}

TEST(Interleaving, WarmsUpByTwoForwardsLessFromWorkerToWorker) {
  for (int w = 0; w < 4; ++w) {
    EXPECT_EQ((Interleaving{4, 3, 8}.warm_up(w)), 2 * (3 - w) + 2 * 4 + 1);
    EXPECT_EQ((Interleaving{4, 1, 8}.warm_up(w)), 4 - w) << "as 1F1B";
    EXPECT_EQ((Interleaving{4, 2, 1}.warm_up(w)), std::min(2 * (3 - w) + 2, 2)) << "no more";
  }
}

// In the picture of schedule/interleaved.h, worker 0 runs 0:F0 0:F0.1 2:F0 2:F0.1 before 2:B0.
TEST(Interleaving, OfTwoWorkersOfTwoStagesHasAsManyInFlightAsThePictureShows) {
  EXPECT_EQ((Interleaving{2, 2, 2}.in_flight()), (std::vector{2, 2, 2, 1}));
}

TEST(Interleaving, OfOneStageAWorkerHasAsManyInFlightAsDapple) {
  for (int workers = 1; workers <= kMostWorkers; ++workers)
    for (int items = 1; items <= kMostItems; ++items) {
      std::vector<int> wanted;
      for (int s = 0; s < workers; ++s) wanted.push_back(std::min(workers - s, items));
      EXPECT_EQ((Interleaving{workers, 1, items}.in_flight()), wanted) << workers << ", " << items;
    }
}

// Four workers have two stages each and run eight microbatches. Worker 2 runs 2·1 + 4 + 1 = 7
// forwards before its first backward: 4 of its first stage, 3 of its second. Four more forwards and
// four backwards later, its first stage runs its first backward. By then 4 + 3 of the 11 forwards
// were of the first stage.
TEST(Interleaving, HasMostOfAStageInFlightBeforeItsFirstBackward) {
  EXPECT_EQ((Interleaving{4, 2, 8}.in_flight()), (std::vector{8, 8, 7, 5, 4, 4, 3, 1}));
}

TEST(Interleaving, NeverHasMoreInFlightThanTheMicrobatches) {
  for (int workers = 1; workers <= kMostWorkers; ++workers)
    for (int chunks = 1; chunks <= 4; ++chunks)
      for (int items = 1; items <= kMostItems; ++items)
        for (const int depth : Interleaving{workers, chunks, items}.in_flight()) {
          EXPECT_GE(depth, 1);
          EXPECT_LE(depth, items);
        }
}

}  // namespace
}  // namespace pipedream::cost
