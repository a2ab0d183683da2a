// A shuffled order of 0 … size − 1 whose elements are computed one by one and never stored.
#pragma once

#include <cstdint>

namespace pipedream::data {

// A bijection on [0, size), a pure function of (size, key). It is a Feistel network on the smallest
// even number of bits that holds the range, applied again until the result lies in the range (cycle
// walking: Black & Rogaway, "Ciphers with arbitrary finite domains", 2002). A Fisher–Yates shuffle
// would need a stored list per epoch. Immutable, so safe to use from several threads.
class Permutation {
 public:
  // Requires size ≥ 1.
  Permutation(std::int64_t size, std::uint64_t key);

  // The element at `place` of the shuffled order. Requires 0 ≤ place < size.
  [[nodiscard]] std::int64_t operator()(std::int64_t place) const;

 private:
  // The Feistel network: a bijection on numbers of 2 · half_bits_ bits.
  [[nodiscard]] std::uint64_t scrambled(std::uint64_t value) const;

  std::uint64_t size_;
  std::uint64_t key_;
  int half_bits_;
};

}  // namespace pipedream::data
