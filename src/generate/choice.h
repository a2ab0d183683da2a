// Which word comes next, by the scores that a network gives to all words.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pipedream::generate {

struct Sampling {
  // 0: the word with the highest score. Above 0: drawn from the softmax of the scores divided by
  // it.
  double temperature = 0;
  std::int64_t top = 0;    // only the words with the highest scores are drawn; 0: any word
  std::uint64_t seed = 0;  // of what is drawn
};

// Returns the word for place `place` of the text, a number from 0 on. A pure function: the same
// arguments give the same word. `scores` are floats, one per word, on the CPU. If several words
// have the highest score, the first of them counts as the highest.
[[nodiscard]] std::int64_t choose(const at::Tensor& scores, const Sampling& sampling,
                                  std::int64_t place);

}  // namespace pipedream::generate
