#include "core/even_part.h"

#include <gtest/gtest.h>

namespace pipedream {
namespace {

TEST(EvenPart, PartsAreInOrderAndCoverEverySampleOnce) {
  for (std::int64_t samples = 0; samples < 20; ++samples)
    for (int replicas = 1; replicas < 7; ++replicas) {
      std::int64_t next = 0;
      for (int r = 0; r < replicas; ++r) {
        const Range range = even_part(samples, r, replicas);
        EXPECT_EQ(range.first, next);
        EXPECT_GE(range.count, samples / replicas);
        EXPECT_LE(range.count, samples / replicas + 1);
        next += range.count;
      }
      EXPECT_EQ(next, samples);
    }
}

}  // namespace
}  // namespace pipedream
