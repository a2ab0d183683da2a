#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"
#include "text/vocabulary.h"
#include "text/vocabulary_file.h"
#include "text/words.h"

namespace pipedream::text {
namespace {

using test::any_of_range;

// Up to `most` bytes. Few different ones, so that pairs repeat, or any.
std::string any_bytes_up_to(int most) {
  const bool few = any_of_range(0, 4) != 0;
  std::string text;
  for (int i = any_of_range(0, most + 1); i > 0; --i)
    text += few ? "aab  \n1."[any_of_range<std::size_t>(0, 8)]
                : static_cast<char>(any_of_range(0, 256));
  return text;
}

std::size_t any_size() { return kFirstMerge + any_of_range<std::size_t>(0, 40); }

Vocabulary learned_from(const std::string& text, std::size_t tokens) {
  const std::string_view view = text;
  return learn_vocabulary(std::span(&view, 1), tokens);
}

// The rules of text/vocabulary.h by the plainest means: words are lists of tokens, and all pairs
// are counted anew for each merge.
using TokenLists = std::vector<std::vector<Token>>;

TokenLists bytes_of_words(const std::string& text) {
  TokenLists words;
  for_each_word(text, [&](std::string_view word) {
    words.emplace_back();
    for (const char c : word) words.back().push_back(kFirstByte + static_cast<unsigned char>(c));
  });
  return words;
}

void replace(std::vector<Token>& word, const Merge& merge, Token merged) {
  for (std::size_t i = 0; i + 1 < word.size(); ++i)
    if (Merge{word[i], word[i + 1]} == merge) {
      word[i] = merged;
      word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
}

std::vector<Merge> plainly_learned(const std::string& text, std::size_t tokens) {
  TokenLists words = bytes_of_words(text);
  std::vector<Merge> merges;
  while (kFirstMerge + merges.size() < tokens) {
    std::map<std::pair<Token, Token>, int> counts;
    for (const auto& word : words)
      for (std::size_t i = 0; i + 1 < word.size(); ++i) ++counts[{word[i], word[i + 1]}];
    auto best = counts.end();
    for (auto pair = counts.begin(); pair != counts.end(); ++pair)
      if (pair->second >= 2 && (best == counts.end() || pair->second > best->second)) best = pair;
    if (best == counts.end()) break;
    const Merge merge{best->first.first, best->first.second};
    for (auto& word : words) replace(word, merge, static_cast<Token>(kFirstMerge + merges.size()));
    merges.push_back(merge);
  }
  return merges;
}

std::vector<Token> plainly_encoded(const std::string& text, const std::vector<Merge>& merges) {
  std::vector<Token> tokens;
  for (auto& word : bytes_of_words(text)) {
    for (std::size_t i = 0; i < merges.size(); ++i)
      replace(word, merges[i], static_cast<Token>(kFirstMerge + i));
    tokens.insert(tokens.end(), word.begin(), word.end());
  }
  return tokens;
}

RC_GTEST_PROP(VocabularyProperty, IsWhatThePlainRuleLearns, ()) {
  const std::string text = any_bytes_up_to(150);
  const std::size_t tokens = any_size();
  RC_ASSERT(learned_from(text, tokens).merges() == plainly_learned(text, tokens));
}

RC_GTEST_PROP(VocabularyProperty, EncodesAsThePlainRuleDoes, ()) {
  const Vocabulary vocabulary = learned_from(any_bytes_up_to(300), any_size());
  const std::string text = any_bytes_up_to(100);
  RC_ASSERT(vocabulary.encode(text) == plainly_encoded(text, vocabulary.merges()));
}

RC_GTEST_PROP(VocabularyProperty, ReturnsAnyBytesFromTheirTokens, ()) {
  const Vocabulary vocabulary = learned_from(any_bytes_up_to(300), any_size());
  const std::string text = any_bytes_up_to(300);
  RC_ASSERT(vocabulary.decode(vocabulary.encode(text)) == text);
}

RC_GTEST_PROP(VocabularyProperty, IsTheSameFromItsFile, ()) {
  const Vocabulary vocabulary = learned_from(any_bytes_up_to(300), any_size());
  RC_ASSERT(parse_vocabulary(to_json(vocabulary), "saved.json") == vocabulary);
}

}  // namespace
}  // namespace pipedream::text
