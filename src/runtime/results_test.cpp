#include "runtime/results.h"

#include <gtest/gtest.h>

#include "runtime/run.h"

namespace pipedream::runtime {
namespace {

using namespace std::chrono_literals;

TEST(SumScores, AllWorkersHaveTheSum) {
  std::vector<Score> found(3);
  run_on_threads(3, {}, [&](const Seat& seat) {
    const Score own{
        .loss = 0.5 + seat.me.value, .samples = 2, .right = seat.me.value, .predictions = 6};
    found[seat.me.index()] = sum_scores(own, seat.channels.control, 20s);
  });
  for (const Score& sum : found) {
    EXPECT_EQ(sum.loss, 4.5);
    EXPECT_EQ(sum.samples, 6);
    EXPECT_EQ(sum.right, 3);
    EXPECT_EQ(sum.predictions, 18);
    EXPECT_EQ(sum.mean_loss(), 0.75);
    EXPECT_DOUBLE_EQ(sum.accuracy(), 1.0 / 6);
  }
}

TEST(Score, OfNoSamplesIsZero) {
  EXPECT_EQ(Score{}.mean_loss(), 0);
  EXPECT_EQ(Score{}.accuracy(), 0);
}

}  // namespace
}  // namespace pipedream::runtime
