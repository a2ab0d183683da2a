#include "data/sentences.h"

#include <algorithm>

#include "data/permutation.h"
#include "data/streams.h"

namespace pipedream::data {
namespace {

constexpr float kSurprise = 0.1F;  // probability that the next word is random

}  // namespace

Sentences::Sentences(std::int64_t words, std::uint64_t seed)
    : next_(shuffled_words(words, seed, kRuleStream)) {}

void Sentences::draw(RandomKey key, std::span<std::int64_t> sentence) const {
  std::vector<float> random(sentence.size());
  fill_uniform(key, random);
  const auto words = static_cast<float>(next_.size());
  // Maps a number in [0, range) to a word; all words are equally probable.
  const auto any_word = [&](float number, float range) {
    return std::min(static_cast<std::int64_t>(number / range * words),
                    static_cast<std::int64_t>(next_.size()) - 1);
  };
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    if (i == 0)
      sentence[i] = any_word(random[i], 1);
    else if (random[i] < kSurprise)
      sentence[i] = any_word(random[i], kSurprise);
    else
      sentence[i] = next_[static_cast<std::size_t>(sentence[i - 1])];
  }
}

std::vector<std::int64_t> shuffled_words(std::int64_t size, std::uint64_t seed,
                                         std::int64_t stream) {
  const Permutation permutation(size, folded({.seed = seed, .layer = stream}));
  std::vector<std::int64_t> words;
  for (std::int64_t word = 0; word < size; ++word) words.push_back(permutation(word));
  return words;
}

}  // namespace pipedream::data
