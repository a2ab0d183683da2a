// A shuffled order of 0 … size − 1 that is computed place by place and never stored.
#pragma once

#include <cstdint>

namespace pipedream::train {

// A bijection on [0, size), a pure function of (size, key): a Feistel network on the smallest even
// number of bits that holds it, walked until it comes back into the range (Black & Rogaway,
// "Ciphers with arbitrary finite domains", 2002). Fisher–Yates would keep a list per epoch.
class Permutation {
 public:
  Permutation(std::int64_t size, std::uint64_t key);

  [[nodiscard]] std::int64_t operator()(std::int64_t place) const;

 private:
  [[nodiscard]] std::uint64_t scrambled(std::uint64_t value) const;

  std::uint64_t size_;
  std::uint64_t key_;
  int half_bits_;
};

}  // namespace pipedream::train
