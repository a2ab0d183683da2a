#include "runtime/results.h"

#include <gtest/gtest.h>

#include "runtime/run.h"

namespace pipedream::runtime {
namespace {

using namespace std::chrono_literals;

TEST(SumScores, WorkerZeroHasTheSumAndTheOthersNone) {
  std::vector<Score> found(3);
  run_on_threads(3, {}, [&](const Seat& seat) {
    const Score own{
        .loss = 0.5 + seat.me.value, .samples = 2, .right = seat.me.value, .predictions = 6};
    found[seat.me.index()] = sum_scores(own, seat.channels.control, 20s);
  });
  EXPECT_EQ(found[0].loss, 4.5);
  EXPECT_EQ(found[0].samples, 6);
  EXPECT_EQ(found[0].right, 3);
  EXPECT_EQ(found[0].predictions, 18);
  EXPECT_EQ(found[0].mean_loss(), 0.75);
  EXPECT_DOUBLE_EQ(found[0].accuracy(), 1.0 / 6);
  EXPECT_EQ(found[1].samples, 0);
  EXPECT_EQ(found[2].samples, 0);
}

TEST(Score, OfNoSamplesIsZero) {
  EXPECT_EQ(Score{}.mean_loss(), 0);
  EXPECT_EQ(Score{}.accuracy(), 0);
}

}  // namespace
}  // namespace pipedream::runtime
