#include "transport/frame.h"

#include <gtest/gtest.h>

namespace pipedream::transport {
namespace {

TEST(Frame, UnpacksAsItWasPacked) {
  const Frame frame{.channel = 3,
                    .tag = -1,
                    .number = 1ULL << 40,
                    .bytes = 1ULL << 33,
                    .header = {INT64_MIN, 0, INT64_MAX}};
  EXPECT_EQ(unpack(pack(frame)), frame);
  EXPECT_EQ(unpack(pack(Frame{})), Frame{});
}

TEST(FrameDeathTest, IsNeverShorterThanItsFixedPart) {
  EXPECT_DEATH((void)unpack(std::vector<std::int64_t>{1, 2, 3}), "words.size\\(\\) >= kFixedWords");
}

}  // namespace
}  // namespace pipedream::transport
