// Memory that is not given back to the system when it is freed, because the same sizes are needed
// again and again (docs/measurements.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

namespace pipedream {

// A pool of large blocks. The system clears every page that it hands out, so a training that frees
// and allocates the same tensors in every minibatch would spend much of its time on that. The C
// library keeps freed memory too, but the heaps of its threads go back to the system when they are
// empty, and blocks of 64 MiB and more always do.
//
// Safe to use from any thread; a block may be freed by another thread than the one that took it.
// Blocks must be freed before the pool is destroyed.
//  1. A block is used again, as a whole, for sizes that it exceeds by an eighth at most. Of blocks
//     of one size, the one that was freed last is used first: it may still be in a cache.
//  2. What is in use and what is kept are together at most a quarter more than what was in use at
//     the peak, and 64 MiB. Beyond that, the blocks that were not used for the longest time go
//     back.
class KeptBlocks {
 public:
  static constexpr std::size_t kAlignment = 64;
  // Smaller blocks come from the C library.
  static constexpr std::size_t kSmallest = 64 << 10;

  KeptBlocks() = default;
  ~KeptBlocks();
  KeptBlocks(const KeptBlocks&) = delete;
  KeptBlocks& operator=(const KeptBlocks&) = delete;

  // Returns `size` bytes, aligned to kAlignment; nullptr if the system has no memory.
  [[nodiscard]] void* take(std::size_t size);
  // Frees what take() returned.
  void give(void* memory) noexcept;

  // The bytes that are kept and not in use.
  [[nodiscard]] std::size_t kept() const;

 private:
  struct Block {
    std::byte* begin = nullptr;
    std::size_t size = 0;  // of the whole block, with its head
  };
  using Free = std::multimap<std::size_t, std::list<Block>::iterator>;

  // Returns a block that is not in use, nullptr if none has about this size.
  [[nodiscard]] std::byte* reuse(std::size_t size);
  // Counts a block of `size` bytes as in use. Requires the lock.
  void note_use(std::size_t size);
  // Gives blocks back to the system until at most `most` bytes are kept. Requires the lock.
  void release_down_to(std::size_t most);
  // Gives back what exceeds the limit of promise 2. Requires the lock.
  void release_surplus();

  mutable std::mutex mutex_;
  // Blocks that are not in use, in the order in which they were freed.
  std::list<Block> oldest_first_;
  Free by_size_;          // the same blocks
  std::size_t kept_ = 0;  // their bytes
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;  // of `in_use_`
};

}  // namespace pipedream
