#include "data/microbatches.h"

#include <gtest/gtest.h>

#include "core/even_part.h"

namespace pipedream::data {
namespace {

TEST(Microbatches, CutTenSamplesIntoFourAsPictured) {
  EXPECT_EQ(even_part(10, 0, 4), (Range{0, 2}));
  EXPECT_EQ(even_part(10, 1, 4), (Range{2, 3}));
  EXPECT_EQ(even_part(10, 2, 4), (Range{5, 2}));
  EXPECT_EQ(even_part(10, 3, 4), (Range{7, 3}));
}

TEST(Microbatches, OfAShortMinibatchAreFewerAndOfTheSameSize) {
  EXPECT_EQ(microbatches_in(32, 32, 4), 4);
  EXPECT_EQ(microbatches_in(16, 32, 4), 2);
  EXPECT_EQ(microbatches_in(17, 32, 4), 3);
  EXPECT_EQ(microbatches_in(1, 32, 4), 1);
}

}  // namespace
}  // namespace pipedream::data
