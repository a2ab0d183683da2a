#include "core/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace pipedream {
namespace {

// The Levenshtein distance in which two neighbouring letters that change places are one edit, as in
// "mpl" for "mlp". Computed row by row.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

// Returns `word` in lower case, with '-' for '_'.
std::string folded_name(std::string_view word) {
  std::string folded;
  for (const char c : word)
    folded += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return folded;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kLongestWord = 64;  // a longer word is rubbish, not a misspelling
  if (word.size() > kLongestWord) return {};
  const std::string wanted = folded_name(word);
  std::string best;
  const std::size_t letters =
      wanted.size() - std::min(wanted.find_first_not_of('-'), wanted.size());
  std::size_t fewest = letters / 2 + 1;
  std::size_t longest_beginning = 0;  // length of the beginning that `best` shares with `word`
  for (const std::string& candidate : candidates) {
    const std::string offered = folded_name(candidate);
    const bool begun = wanted.size() >= 3 && offered.starts_with(wanted);  // "vgg" means "vgg16"
    const std::size_t needed = begun ? 0 : edits(wanted, offered);
    const auto [differs, _] =
        std::mismatch(wanted.begin(), wanted.end(), offered.begin(), offered.end());
    const auto beginning = static_cast<std::size_t>(differs - wanted.begin());
    const bool as_near = needed == fewest && !best.empty() && beginning > longest_beginning;
    if (needed < fewest || as_near) {
      fewest = needed;
      longest_beginning = beginning;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  if (!near.empty()) return " (did you mean '" + near + "'?)";
  std::string known;
  for (const std::string& candidate : candidates) known += (known.empty() ? "" : ", ") + candidate;
  return " (known: " + known + ")";
}

}  // namespace pipedream
