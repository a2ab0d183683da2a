// Corpus BLEU (Papineni et al. 2002), a score for translations: how many n-grams of the
// translations are in the references. The score equals that of the program sacrebleu with its
// default settings: tokens of mteval 13a, exponential smoothing, upper and lower case differ, one
// reference per sentence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream::text {

inline constexpr std::size_t kBleuOrders = 4;  // n-grams of 1 to 4 tokens

// What sentences contribute to the score of a corpus. The sums of several workers may be added.
struct BleuSums {
  std::array<std::int64_t, kBleuOrders> matches{};  // n-grams that the reference has, too
  std::array<std::int64_t, kBleuOrders> totals{};   // n-grams of the translations
  std::int64_t length = 0;                          // tokens of the translations
  std::int64_t reference_length = 0;                // tokens of the references

  BleuSums& operator+=(const BleuSums& other);
  friend bool operator==(const BleuSums&, const BleuSums&) = default;
};

// The sums of one sentence: `translation` is what the network wrote, `reference` is right.
[[nodiscard]] BleuSums bleu_sums(std::string_view translation, std::string_view reference);

// The score, from 0 to 100. If no n-gram of an order matches, 1/2, 1/4, … of one is counted for the
// first such order, the second, …; without any match, or without any n-gram of an order, the score
// is 0.
[[nodiscard]] double bleu(const BleuSums& sums);

// Splits a sentence into tokens by the rules of mteval-v13a: punctuation stands alone, except full
// stops and commas between digits.
[[nodiscard]] std::vector<std::string> bleu_tokens(std::string_view sentence);

}  // namespace pipedream::text
