#include "core/kept_blocks.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace pipedream {
namespace {

constexpr std::size_t kMiB = 1 << 20;

TEST(KeptBlocks, AreUsedAgainForAboutTheSameSize) {
  KeptBlocks blocks;
  void* const first = blocks.take(10 * kMiB);
  std::memset(first, 1, 10 * kMiB);
  blocks.give(first);
  void* const second = blocks.take(10 * kMiB - 5000);
  EXPECT_EQ(second, first);
  void* const third = blocks.take(10 * kMiB);
  EXPECT_NE(third, first) << "it is in use";
  blocks.give(second);
  void* const small = blocks.take(kMiB);
  EXPECT_NE(small, first) << "a small size would waste it";
  blocks.give(small);
  blocks.give(third);
}

TEST(KeptBlocks, AreUsedAgainInTheOppositeOrderOfTheirFreeing) {
  KeptBlocks blocks;
  void* const first = blocks.take(10 * kMiB);
  void* const second = blocks.take(10 * kMiB);
  void* const third = blocks.take(10 * kMiB);
  for (void* const each : {second, third, first}) blocks.give(each);
  EXPECT_EQ(blocks.take(10 * kMiB), first);
  EXPECT_EQ(blocks.take(10 * kMiB), third);
  EXPECT_EQ(blocks.take(10 * kMiB), second);
  for (void* const each : {first, second, third}) blocks.give(each);
}

// Expects that all bytes of a block have the value `byte`.
void expect_filled(const void* memory, std::size_t size, int byte) {
  const auto* bytes = static_cast<const unsigned char*>(memory);
  EXPECT_EQ(std::count(bytes, bytes + size, static_cast<unsigned char>(byte)),
            static_cast<std::ptrdiff_t>(size));
}

TEST(KeptBlocks, AreAlignedAndHoldWhatWasAskedFor) {
  KeptBlocks blocks;
  std::vector<std::pair<void*, std::size_t>> taken;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, KeptBlocks::kSmallest - 1, KeptBlocks::kSmallest,
        std::size_t{100'001}, 4 * kMiB, 5 * kMiB + 17}) {
    void* const memory = blocks.take(size);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % KeptBlocks::kAlignment, 0U) << size;
    std::memset(memory, static_cast<int>(taken.size()), size);
    taken.emplace_back(memory, size);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    expect_filled(taken[i].first, taken[i].second, static_cast<int>(i));
    blocks.give(taken[i].first);
  }
}

TEST(KeptBlocks, GoBackWhenOtherSizesTakeTheirPlace) {
  KeptBlocks blocks;
  std::vector<void*> taken;
  for (int i = 0; i < 8; ++i) taken.push_back(blocks.take(32 * kMiB));
  for (void* const memory : taken) blocks.give(memory);
  void* const large = blocks.take(512 * kMiB);
  EXPECT_LE(512 * kMiB + blocks.kept(), 512 * kMiB * 5 / 4 + 65 * kMiB);
  blocks.give(large);
}

TEST(KeptBlocks, GoBackIfTheyAreNotNeededAtThePeak) {
  KeptBlocks blocks;
  std::vector<void*> taken;
  for (int i = 0; i < 8; ++i) taken.push_back(blocks.take(32 * kMiB));
  for (void* const memory : taken) blocks.give(memory);
  EXPECT_GE(blocks.kept(), 256 * kMiB) << "all of them were in use at once";
  // Other sizes replace them.
  for (int i = 0; i < 40; ++i)
    blocks.give(blocks.take((33 + 5 * static_cast<std::size_t>(i)) * kMiB));
  EXPECT_LE(blocks.kept(), 256 * kMiB * 5 / 4 + 65 * kMiB);
}

TEST(KeptBlocks, AnswerWithNothingIfTheSystemHasNoMemory) {
  KeptBlocks blocks;
  EXPECT_EQ(blocks.take(std::size_t{1} << 62), nullptr);
  EXPECT_EQ(blocks.take(SIZE_MAX - 10), nullptr);
}

TEST(KeptBlocks, MayBeFreedByOtherThreads) {
  KeptBlocks blocks;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const std::size_t size = KeptBlocks::kSmallest + static_cast<std::size_t>(i) * 997;
        void* const memory = blocks.take(size);
        std::memset(memory, i, size);
        expect_filled(memory, size, i);
        std::jthread([&] { blocks.give(memory); }).join();
      }
    });
}

}  // namespace
}  // namespace pipedream
