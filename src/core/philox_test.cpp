#include "core/philox.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace pipedream {
namespace {

using Words = std::array<std::uint32_t, 4>;
constexpr std::uint32_t kOnes = 0xffffffff;

// The known answers that Philox's authors publish with their library Random123 (kat_vectors).
TEST(Philox, GivesThePublishedAnswersOfItsAuthors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

std::vector<float> uniform(RandomKey key, std::size_t count) {
  std::vector<float> out(count);
  fill_uniform(key, out);
  return out;
}

std::vector<float> normal(RandomKey key, std::size_t count) {
  std::vector<float> out(count);
  fill_normal(key, out);
  return out;
}

TEST(Fill, ElementsDoNotDependOnHowManyAreAskedFor) {
  const auto many_uniform = uniform({.seed = 7}, 103);
  const auto many_normal = normal({.seed = 7}, 103);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3},
                                  std::size_t{4}, std::size_t{5}, std::size_t{102}}) {
    const auto few_uniform = uniform({.seed = 7}, count);
    const auto few_normal = normal({.seed = 7}, count);
    EXPECT_TRUE(std::equal(few_uniform.begin(), few_uniform.end(), many_uniform.begin()));
    EXPECT_TRUE(std::equal(few_normal.begin(), few_normal.end(), many_normal.begin()));
  }
}

TEST(Fill, EveryFieldOfTheKeyChangesTheStream) {
  const RandomKey keys[] = {
      {},
      {.seed = 1},
      {.layer = 1},
      {.minibatch = 1},
      {.microbatch = 1},
      {.draw = 1},
      {.seed = std::uint64_t{1} << 63},
      {.layer = std::int64_t{1} << 40},
      {.minibatch = std::int64_t{1} << 40},
      {.microbatch = -1},
      {.draw = -1},
      {.seed = 1, .layer = 1},
      {.layer = 1, .minibatch = 1},
      {.minibatch = 1, .microbatch = 1},
      {.microbatch = 1, .draw = 1},
  };
  std::set<std::vector<float>> streams;
  for (const RandomKey& key : keys) streams.insert(uniform(key, 8));
  EXPECT_EQ(streams.size(), std::size(keys));
}

// Two keys that differ in one field give streams whose covariance is close to 0.
TEST(Fill, NeighbouringKeysAreUncorrelated) {
  constexpr std::size_t kCount = 100'000;
  const auto a = uniform({.minibatch = 0}, kCount);
  const auto b = uniform({.minibatch = 1}, kCount);
  double covariance = 0;
  for (std::size_t i = 0; i < kCount; ++i) covariance += (a[i] - 0.5) * (b[i] - 0.5) / kCount;
  EXPECT_NEAR(covariance, 0, 5.0 / 12 / std::sqrt(kCount));  // five standard deviations
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments_of(const std::vector<float>& numbers) {
  const auto count = static_cast<double>(numbers.size());
  Moments m;
  for (const float x : numbers) m.mean += x / count;
  for (const float x : numbers) m.variance += (x - m.mean) * (x - m.mean) / count;
  return m;
}

TEST(FillUniform, HasMeanOneHalfAndVarianceOneTwelfth) {
  const auto [mean, variance] = moments_of(uniform({.seed = 3}, 1'000'000));
  EXPECT_NEAR(mean, 0.5, 0.0015);
  EXPECT_NEAR(variance, 1.0 / 12, 0.0004);
}

TEST(FillUniform, GivesMultiplesOfTwoToTheMinus24BelowOne) {
  for (const float x : uniform({.seed = 4}, 100'000)) {
    ASSERT_GE(x, 0.0F);
    ASSERT_LT(x, 1.0F);
    ASSERT_EQ(x * 0x1p24F, std::floor(x * 0x1p24F));
  }
}

TEST(FillNormal, HasMeanZeroVarianceOneAndTheTailsOfANormalDistribution) {
  const auto numbers = normal({.seed = 5}, 1'000'000);
  const auto [mean, variance] = moments_of(numbers);
  EXPECT_NEAR(mean, 0, 0.005);
  EXPECT_NEAR(variance, 1, 0.008);
  const auto beyond_two =
      std::count_if(numbers.begin(), numbers.end(), [](float x) { return std::abs(x) > 2; });
  EXPECT_NEAR(static_cast<double>(beyond_two) / 1e6, 0.0455, 0.0011);
}

TEST(FillNormal, TheTwoNumbersOfAPairAreUncorrelated) {
  const auto numbers = normal({.seed = 6}, 200'000);
  double covariance = 0;
  for (std::size_t i = 0; i < numbers.size(); i += 2)
    covariance += static_cast<double>(numbers[i]) * numbers[i + 1] / 1e5;
  EXPECT_NEAR(covariance, 0, 5 / std::sqrt(1e5));
}

}  // namespace
}  // namespace pipedream
