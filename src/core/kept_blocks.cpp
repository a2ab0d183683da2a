#include "core/kept_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <sys/mman.h>

#include "core/check.h"

namespace pipedream {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kSlack = std::size_t{64} << 20;  // kept in any case

// Stands in front of the memory that the user gets.
struct alignas(KeptBlocks::kAlignment) Head {
  std::size_t size = 0;  // of the whole block; 0 if the C library allocated it
};

constexpr std::size_t rounded(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

Head* head_of(void* memory) { return static_cast<Head*>(memory) - 1; }

std::byte* map(std::size_t size) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

// Large blocks begin at a huge page, if the system has such pages: they are faster to get and to
// use.
std::byte* map_aligned(std::size_t size) {
  std::byte* const all = map(size + kHugePage);
  if (all == nullptr) return nullptr;
  const std::size_t before =
      (kHugePage - reinterpret_cast<std::uintptr_t>(all) % kHugePage) % kHugePage;
  if (before > 0) munmap(all, before);
  munmap(all + before + size, kHugePage - before);
  (void)madvise(all + before, size, MADV_HUGEPAGE);
  return all + before;
}

}  // namespace

KeptBlocks::~KeptBlocks() {
  const std::lock_guard lock(mutex_);
  PD_CHECK(in_use_ == 0);
  release_down_to(0);
}

void* KeptBlocks::take(std::size_t size) {
  if (size > std::numeric_limits<std::size_t>::max() / 2) return nullptr;
  if (size < kSmallest) {
    void* memory = nullptr;
    if (posix_memalign(&memory, kAlignment, size + sizeof(Head)) != 0) return nullptr;
    return new (memory) Head{} + 1;
  }
  const std::size_t whole = rounded(size + sizeof(Head), kPage);
  std::byte* block = reuse(whole);
  if (block != nullptr) return block + sizeof(Head);
  const auto get = [&] { return whole < 2 * kHugePage ? map(whole) : map_aligned(whole); };
  block = get();
  if (block == nullptr) {
    {
      const std::lock_guard lock(mutex_);
      release_down_to(0);
    }
    block = get();
    if (block == nullptr) return nullptr;
  }
  new (block) Head{whole};
  const std::lock_guard lock(mutex_);
  note_use(whole);
  release_surplus();
  return block + sizeof(Head);
}

std::byte* KeptBlocks::reuse(std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto fits = by_size_.lower_bound(size);
  if (fits == by_size_.end() || fits->first > size + size / 8) return nullptr;
  // Equal sizes are in the order in which they were freed.
  const auto found = std::prev(by_size_.upper_bound(fits->first));
  const Block block = *found->second;
  oldest_first_.erase(found->second);
  by_size_.erase(found);
  kept_ -= block.size;
  note_use(block.size);
  return block.begin;
}

void KeptBlocks::note_use(std::size_t size) {
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
}

void KeptBlocks::give(void* memory) noexcept {
  if (memory == nullptr) return;
  Head* const head = head_of(memory);
  const std::size_t size = head->size;
  if (size == 0) {
    std::free(head);
    return;
  }
  const std::lock_guard lock(mutex_);
  in_use_ -= size;
  kept_ += size;
  oldest_first_.push_back({reinterpret_cast<std::byte*>(head), size});
  by_size_.emplace(size, std::prev(oldest_first_.end()));
  release_surplus();
}

void KeptBlocks::release_surplus() { release_down_to(peak_ - in_use_ + peak_ / 4 + kSlack); }

void KeptBlocks::release_down_to(std::size_t most) {
  while (kept_ > most) {
    const auto oldest = oldest_first_.begin();
    const auto [first, last] = by_size_.equal_range(oldest->size);
    by_size_.erase(
        std::find_if(first, last, [&](const auto& each) { return each.second == oldest; }));
    munmap(oldest->begin, oldest->size);
    kept_ -= oldest->size;
    oldest_first_.erase(oldest);
  }
}

std::size_t KeptBlocks::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

}  // namespace pipedream
