#include "text/vocabulary.h"

#include <numeric>

#include <gtest/gtest.h>

#include "text/encoder.h"
#include "text/words.h"

namespace pipedream::text {
namespace {

Vocabulary learned(std::string_view text, std::size_t tokens) {
  return learn_vocabulary(std::span(&text, 1), tokens);
}

Token byte(char c) { return kFirstByte + static_cast<unsigned char>(c); }

TEST(Vocabulary, HasSpecialTokensAndBytesBeforeAnyMerge) {
  const Vocabulary plain;
  EXPECT_EQ(plain.size(), 259U);
  EXPECT_EQ(plain.encode("hi"), (std::vector<Token>{byte('h'), byte('i')}));
  EXPECT_EQ(plain.decode(std::vector<Token>{kBeginning, byte('h'), byte('i'), kEnd, kPadding}),
            "hi");
}

TEST(Vocabulary, LearnsTheMostFrequentPairFirst) {
  // "lo" is there three times, then " lo" twice.
  const Vocabulary found = learned("lo lo lot", 261);
  EXPECT_EQ(found.merges(), (std::vector<Merge>{{byte('l'), byte('o')}, {byte(' '), 259}}));
  EXPECT_EQ(found.encode("lot lo"), (std::vector<Token>{259, byte('t'), 260}));
}

TEST(Vocabulary, OfEquallyFrequentPairsTakesTheOneWithSmallerTokens) {
  EXPECT_EQ(learned("cd\ncb\nab\ncd\ncb\nab", 260).merges().at(0), (Merge{byte('a'), byte('b')}));
  EXPECT_EQ(learned("cd\ncb\ncd\ncb", 260).merges().at(0), (Merge{byte('c'), byte('b')}));
}

TEST(Vocabulary, StopsWhereNoPairOccursTwice) {
  EXPECT_EQ(learned("abcabd", 1000).size(), 260U);  // "ab"; then "ab" "c" and others occur once
  EXPECT_EQ(learned("abcdef", 1000).size(), 259U);
  EXPECT_EQ(learned("", 1000).size(), 259U);
}

TEST(Vocabulary, NeverMergesAcrossWords) {
  const Vocabulary found = learned(" ab12 ab12\n ab12\n", 300);
  EXPECT_EQ(found.size(), 262U);  // " ab" takes two merges, "12" one
  for (Token token = kFirstMerge; token < found.size(); ++token) {
    const std::string bytes = found.decode(std::span(&token, 1));
    EXPECT_EQ(first_word(bytes), bytes);
  }
}

TEST(Vocabulary, MakesNoTokenLongerThanItMay) {
  const Vocabulary found = learned(std::string(100'000, 'a'), 400);
  const std::vector<Token> tokens = found.encode(std::string(5'000, 'a'));
  for (const Token token : tokens)
    EXPECT_LE(found.decode(std::span(&token, 1)).size(), kLongestToken);
  EXPECT_LT(tokens.size(), 10U);
}

TEST(Vocabulary, AppliesMergesInTheOrderInWhichTheyWereLearned) {
  // "bc" was learned before "ab", so it takes the b of "abc".
  const Vocabulary rules({{byte('b'), byte('c')}, {byte('a'), byte('b')}});
  EXPECT_EQ(rules.encode("abcab"), (std::vector<Token>{byte('a'), 259, 260}));
}

TEST(Vocabulary, MergesOverlappingPairsFromTheLeft) {
  const Vocabulary rules({{byte('a'), byte('a')}});
  EXPECT_EQ(rules.encode("aaaaa"), (std::vector<Token>{259, 259, byte('a')}));
}

TEST(Vocabulary, LearnsFromAllTexts) {
  const std::string_view texts[] = {"ab", "ab"};
  EXPECT_EQ(learn_vocabulary(texts, 300).merges(), (std::vector<Merge>{{byte('a'), byte('b')}}));
}

TEST(Encoder, GivesTheSameTokensForAWordThatItKnows) {
  const Vocabulary found = learned("the then them there", 270);
  Encoder encoder(found);
  std::vector<Token> tokens;
  encoder.append("them the", tokens);
  const std::vector<Token> once = tokens;
  encoder.append("them the", tokens);
  EXPECT_EQ(
      std::vector<Token>(tokens.begin() + static_cast<std::ptrdiff_t>(once.size()), tokens.end()),
      once);
  EXPECT_EQ(found.encode("them the"), once);
}

}  // namespace
}  // namespace pipedream::text
