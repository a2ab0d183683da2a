#include "core/nearest.h"

#include <vector>

#include <gtest/gtest.h>

namespace pipedream {
namespace {

const std::vector<std::string> kKeys{"bandwidth", "latency", "shared", "count"};

TEST(Nearest, FindsAMisspeltWord) {
  EXPECT_EQ(nearest("bandwith", kKeys), "bandwidth");
  EXPECT_EQ(nearest("latancy", kKeys), "latency");
  EXPECT_EQ(nearest("conut", kKeys), "count");
}

TEST(Nearest, GivesAnExactWordBack) { EXPECT_EQ(nearest("shared", kKeys), "shared"); }

TEST(Nearest, TakesTheCandidateWithFewestEdits) {
  EXPECT_EQ(nearest("abcd", std::vector<std::string>{"abxx", "abcx", "axxx"}), "abcx");
}

TEST(Nearest, TakesTheFirstOfTwoEquallyNear) {
  EXPECT_EQ(nearest("abcd", std::vector<std::string>{"abcx", "abcy"}), "abcx");
}

TEST(Nearest, AllowsHalfTheLettersToDifferAndNoMore) {
  EXPECT_EQ(nearest("abcd", std::vector<std::string>{"abxy"}), "abxy");
  EXPECT_EQ(nearest("abcd", std::vector<std::string>{"axyz"}), "");
  EXPECT_EQ(nearest("x", kKeys), "");
}

TEST(Nearest, CountsNoDashesOfAFlag) {
  EXPECT_EQ(nearest("--device", std::vector<std::string>{"--trace", "--seed"}), "");
  EXPECT_EQ(nearest("--devise", std::vector<std::string>{"--device"}), "--device");
  EXPECT_EQ(nearest("--", std::vector<std::string>{"--a"}), "");
}

TEST(Nearest, FindsNothingForAMegabyteOfRubbish) {
  EXPECT_EQ(nearest(std::string(1'000'000, 'a'), std::vector<std::string>{std::string(65, 'a')}),
            "");
}

TEST(Suggestion, AsksWhetherTheNearestWasMeant) {
  EXPECT_EQ(suggestion("bandwith", kKeys), " (did you mean 'bandwidth'?)");
}

TEST(Suggestion, ListsAllWhenNothingIsNear) {
  EXPECT_EQ(suggestion("zzz", kKeys), " (known: bandwidth, latency, shared, count)");
}

TEST(Nearest, TakesBeginningsAndOtherSpellingsForTheWord) {
  const std::vector<std::string> names{"vgg16", "--image-size"};
  EXPECT_EQ(nearest("vgg", names), "vgg16");
  EXPECT_EQ(nearest("VGG16", names), "vgg16");
  EXPECT_EQ(nearest("--image_size", names), "--image-size");
}

}  // namespace
}  // namespace pipedream
