#include "generate/choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "core/philox.h"

namespace pipedream::generate {

std::int64_t choose(const at::Tensor& scores, const Sampling& sampling, std::int64_t place) {
  const at::Tensor dense = scores.contiguous();
  const std::span<const float> of(dense.const_data_ptr<float>(),
                                  static_cast<std::size_t>(dense.numel()));
  if (sampling.temperature == 0) return std::max_element(of.begin(), of.end()) - of.begin();
  std::vector<std::int64_t> words(of.size());
  std::iota(words.begin(), words.end(), 0);
  const auto score = [&](std::int64_t word) { return of[static_cast<std::size_t>(word)]; };
  std::stable_sort(words.begin(), words.end(),
                   [&](std::int64_t a, std::int64_t b) { return score(a) > score(b); });
  if (sampling.top > 0 && sampling.top < static_cast<std::int64_t>(words.size()))
    words.resize(static_cast<std::size_t>(sampling.top));
  std::vector<double> sums;  // of the first words' shares
  for (const std::int64_t word : words) {
    const double share = std::exp(double{score(word) - score(words[0])} / sampling.temperature);
    sums.push_back(share + (sums.empty() ? 0 : sums.back()));
  }
  std::array<float, 1> drawn{};
  fill_uniform({.seed = sampling.seed, .minibatch = place}, drawn);
  const auto found = std::upper_bound(sums.begin(), sums.end(), drawn[0] * sums.back());
  return words[std::min(static_cast<std::size_t>(found - sums.begin()), words.size() - 1)];
}

}  // namespace pipedream::generate
