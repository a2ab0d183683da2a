#include "train/microbatches.h"

#include <gtest/gtest.h>

namespace pipedream::train {
namespace {

TEST(Microbatches, CutTenSamplesIntoFourAsPictured) {
  EXPECT_EQ(microbatch_range(10, 0, 4), (SampleRange{0, 2}));
  EXPECT_EQ(microbatch_range(10, 1, 4), (SampleRange{2, 3}));
  EXPECT_EQ(microbatch_range(10, 2, 4), (SampleRange{5, 2}));
  EXPECT_EQ(microbatch_range(10, 3, 4), (SampleRange{7, 3}));
}

TEST(Microbatches, OfAShortMinibatchAreFewerAndOfTheSameSize) {
  EXPECT_EQ(microbatches_in(32, 32, 4), 4);
  EXPECT_EQ(microbatches_in(16, 32, 4), 2);
  EXPECT_EQ(microbatches_in(17, 32, 4), 3);
  EXPECT_EQ(microbatches_in(1, 32, 4), 1);
}

}  // namespace
}  // namespace pipedream::train
