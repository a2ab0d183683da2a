#include "text/bleu.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

namespace pipedream::text {
namespace {

using Tokens = std::vector<std::string>;

// How often each n-gram occurs. The tokens in a key are separated by spaces, which no token has.
std::map<std::string, std::int64_t> ngrams(const Tokens& tokens, std::size_t order) {
  std::map<std::string, std::int64_t> counts;
  for (std::size_t begin = 0; begin + order <= tokens.size(); ++begin) {
    std::string ngram;
    for (const std::string& token : std::span(tokens).subspan(begin, order)) ngram += token + " ";
    ++counts[ngram];
  }
  return counts;
}

// How many n-grams of `ours` are among `theirs`, each as often as it occurs there.
std::int64_t matches(const std::map<std::string, std::int64_t>& ours,
                     const std::map<std::string, std::int64_t>& theirs) {
  std::int64_t all = 0;
  for (const auto& [ngram, count] : ours) {
    const auto found = theirs.find(ngram);
    if (found != theirs.end()) all += std::min(count, found->second);
  }
  return all;
}

// Translations that are shorter than the references lose by it.
double brevity_penalty(const BleuSums& sums) {
  if (sums.length >= sums.reference_length) return 1;
  return std::exp(1 -
                  static_cast<double>(sums.reference_length) / static_cast<double>(sums.length));
}

}  // namespace

BleuSums& BleuSums::operator+=(const BleuSums& other) {
  for (std::size_t i = 0; i < kBleuOrders; ++i) {
    matches[i] += other.matches[i];
    totals[i] += other.totals[i];
  }
  length += other.length;
  reference_length += other.reference_length;
  return *this;
}

BleuSums bleu_sums(std::string_view translation, std::string_view reference) {
  const Tokens ours = bleu_tokens(translation);
  const Tokens theirs = bleu_tokens(reference);
  BleuSums sums;
  sums.length = static_cast<std::int64_t>(ours.size());
  sums.reference_length = static_cast<std::int64_t>(theirs.size());
  for (std::size_t order = 1; order <= kBleuOrders; ++order) {
    sums.matches[order - 1] = matches(ngrams(ours, order), ngrams(theirs, order));
    sums.totals[order - 1] =
        std::max<std::int64_t>(0, sums.length - static_cast<std::int64_t>(order) + 1);
  }
  return sums;
}

double bleu(const BleuSums& sums) {
  if (sums.matches[0] == 0 || sums.totals.back() == 0) return 0;
  double logarithms = 0;
  double found_for_none = 1;
  for (std::size_t i = 0; i < kBleuOrders; ++i) {
    if (sums.matches[i] == 0) found_for_none /= 2;
    const double found =
        sums.matches[i] == 0 ? found_for_none : static_cast<double>(sums.matches[i]);
    logarithms += std::log(100 * found / static_cast<double>(sums.totals[i]));
  }
  return brevity_penalty(sums) * std::exp(logarithms / static_cast<double>(kBleuOrders));
}

}  // namespace pipedream::text
