// Sentences of a synthetic language that a network can learn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/philox.h"

namespace pipedream::data {

// A language of the words 0 … words − 1. Each word has one successor, which follows it with a
// probability of 0.9; otherwise the next word is random. The first word is random too. A pure
// function of the constructor's arguments. Immutable, so safe to use from several threads.
class Sentences {
 public:
  Sentences(std::int64_t words, std::uint64_t seed);

  // Fills `sentence` with words, using the random numbers of the stream `key`.
  void draw(RandomKey key, std::span<std::int64_t> sentence) const;

 private:
  std::vector<std::int64_t> next_;  // the successor of each word
};

// Returns 0 … size − 1 in a shuffled order that depends on the arguments alone.
[[nodiscard]] std::vector<std::int64_t> shuffled_words(std::int64_t size, std::uint64_t seed,
                                                       std::int64_t stream);

}  // namespace pipedream::data
