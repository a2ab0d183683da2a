#include "train/averaging_time.h"

#include <gtest/gtest.h>

namespace pipedream::train {
namespace {

// The times found are noise, so the test checks only that the measurement ends.
TEST(AveragingTime, IsFoundForAnyReplicasAndLayers) {
  for (const int replicas : {2, 3, 5})
    for (const std::vector<Bytes>& gradients :
         {std::vector<Bytes>{Bytes{4}}, {Bytes{0}, Bytes{4000}, Bytes{0}, Bytes{2 << 20}}})
      for (const bool with_sums : {false, true})
        EXPECT_NO_THROW((void)averaging_time({gradients, replicas, 1, with_sums}));
}

// Large gradients gain from the buffer that is used again, which may outweigh the cost of the sums.
// Gradients that fit into a cache gain nothing, so the difference must be positive.
TEST(AveragingTime, OfSmallGradientsIsThatOfTheirSums) {
  for (const int replicas : {2, 3, 5})
    for (const std::vector<Bytes>& gradients :
         {std::vector<Bytes>{Bytes{64 << 10}, Bytes{64 << 10}},
          {Bytes{0}, Bytes{64 << 10}, Bytes{0}, Bytes{64 << 10}}})
      EXPECT_GT(averaging_time({gradients, replicas}), Nanos(0)) << replicas;
}

// 2^45 bytes of gradients fit into no memory.
TEST(AveragingTime, OfHugeGradientsIsReckonedFromAPart) {
  constexpr Bytes kPart{256 << 20};
  const PartOfGradients huge =
      part_to_measure({Bytes{4}, Bytes{std::int64_t{1} << 45}, Bytes{100}});
  EXPECT_EQ(huge.gradients, (std::vector<Bytes>{Bytes{4}, kPart - Bytes{4}, Bytes{0}}));
  EXPECT_NEAR(huge.times, 1 << 17, 1e-6 * (1 << 17));
  const PartOfGradients small = part_to_measure({Bytes{0}, Bytes{100}, Bytes{8}});
  EXPECT_EQ(small.gradients, (std::vector<Bytes>{Bytes{0}, Bytes{100}, Bytes{8}}));
  EXPECT_EQ(small.times, 1);
}

TEST(AveragingTime, OfNoGradientsIsNone) {
  EXPECT_EQ(averaging_time({.gradients = {Bytes{0}, Bytes{0}}}), Nanos(0));
}

}  // namespace
}  // namespace pipedream::train
