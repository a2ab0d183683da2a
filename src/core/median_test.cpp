#include "core/median.h"

#include <gtest/gtest.h>

namespace pipedream {
namespace {

TEST(Median, IsTheMiddleOneInWhateverOrderTheyCome) {
  EXPECT_EQ(median<int>({7}), 7);
  EXPECT_EQ(median<int>({9, 1, 5}), 5);
  EXPECT_EQ(median<double>({4.5, 4.5, -1, 80, 2}), 4.5);
}

TEST(Median, OfAnEvenNumberIsTheUpperOfBothInTheMiddle) {
  EXPECT_EQ(median<int>({2, 1}), 2);
  EXPECT_EQ(median<int>({40, 10, 30, 20}), 30);
}

}  // namespace
}  // namespace pipedream
