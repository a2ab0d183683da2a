// Sentences of a made-up language, which can be learned.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/philox.h"

namespace pipedream::train {

// Each word but the first follows from the one before by a fixed rule, nine times in ten; else it
// is any word. Immutable; a pure function of its arguments.
class Sentences {
 public:
  Sentences(std::int64_t words, std::uint64_t seed);

  // Writes the sentence that the stream `key` draws.
  void draw(RandomKey key, std::span<std::int64_t> sentence) const;

 private:
  std::vector<std::int64_t> next_;  // by word
};

// A shuffled list of 0 … size − 1, which depends on (seed, stream) alone.
[[nodiscard]] std::vector<std::int64_t> shuffled_words(std::int64_t size, std::uint64_t seed,
                                                       std::int64_t stream);

}  // namespace pipedream::train
