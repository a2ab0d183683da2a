#include "data/batches.h"

#include <gtest/gtest.h>

#include "data/permutation.h"

namespace pipedream::data {
namespace {

using Samples = std::vector<std::int64_t>;

TEST(Batches, LastMinibatchOfAnEpochMayBeShort) {
  const Batches batches(10, 4, 1, false);
  EXPECT_EQ(batches.per_epoch(), 3);
  EXPECT_EQ(batches.samples_in(2), 2);
  EXPECT_EQ(batches.samples_in(3), 4);  // the first minibatch of the next epoch
  EXPECT_EQ(batches.samples_of(2), (Samples{8, 9}));
}

TEST(Batches, EndWithAShortOneAfterSoManySamples) {
  const Batches batches(10, 4, 1, false, /*in_all=*/16);
  EXPECT_EQ(batches.samples_in(2), 2);
  EXPECT_EQ(batches.samples_in(4), 2);
  EXPECT_EQ(batches.samples_of(4), (Samples{4, 5}));
  EXPECT_EQ(batches.samples_in(5), 0);
}

TEST(Batches, MayBeginInTheMiddleOfAnEpoch) {
  const Batches batches(10, 4, 1, false, INT64_MAX, {.epoch = 3, .used = 4});
  EXPECT_EQ(batches.samples_of(0), (Samples{4, 5, 6, 7}));
  EXPECT_EQ(batches.samples_of(1), (Samples{8, 9}));
  EXPECT_EQ(batches.samples_of(2), (Samples{0, 1, 2, 3}));
  const std::vector<std::int64_t> epochs{3, 3, 4, 4, 4, 5};
  for (std::size_t i = 0; i < epochs.size(); ++i)
    EXPECT_EQ(batches.epoch_of(static_cast<std::int64_t>(i)), epochs[i]);
  EXPECT_EQ(batches.first_of(3), 0);
  EXPECT_EQ(batches.first_of(4), 2);
  EXPECT_EQ(batches.first_of(5), 5);
}

TEST(Batches, CountSamplesAndMinibatchesThroughEpochs) {
  const Batches batches(10, 4, 1, false);
  const std::vector<std::int64_t> until{0, 4, 8, 10, 14, 18, 20, 24};
  for (std::size_t i = 0; i < until.size(); ++i) {
    const auto minibatches = static_cast<std::int64_t>(i);
    EXPECT_EQ(batches.samples_until(minibatches), until[i]);
    EXPECT_EQ(batches.minibatches_until(until[i]), minibatches);
  }
  EXPECT_EQ(batches.minibatches_until(13), 4);
}

TEST(Batches, AreReadInOrderUnlessShuffled) {
  const Batches batches(10, 4, 1, false);
  EXPECT_EQ(batches.samples_of(1), (Samples{4, 5, 6, 7}));
  EXPECT_EQ(batches.samples_of(4), (Samples{4, 5, 6, 7}));  // the same in the next epoch
}

TEST(Batches, OneMinibatchLargerThanTheSetHoldsAllOfIt) {
  const Batches batches(3, 8, 1, false);
  EXPECT_EQ(batches.per_epoch(), 1);
  EXPECT_EQ(batches.samples_of(5), (Samples{0, 1, 2}));
}

// Pinned: a seed must give the same order of samples in every version of the program.
TEST(Batches, ShufflesAsItAlwaysDid) {
  EXPECT_EQ(Batches(10, 10, 1, true).samples_of(0), (Samples{3, 9, 6, 1, 2, 8, 7, 5, 0, 4}));
}

TEST(Permutation, PutsEveryNumberAtEveryPlaceEquallyOften) {
  constexpr int kSize = 7;
  constexpr int kKeys = 7000;
  std::vector<int> met(kSize * kSize);
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const Permutation permutation(kSize, key);
    for (std::int64_t i = 0; i < kSize; ++i)
      ++met[static_cast<std::size_t>(i * kSize + permutation(i))];
  }
  for (const int times : met) EXPECT_NEAR(times, kKeys / kSize, 150);  // 5 standard deviations
}

}  // namespace
}  // namespace pipedream::data
