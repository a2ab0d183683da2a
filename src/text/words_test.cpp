#include "text/words.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pipedream::text {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

using Words = std::vector<std::string>;

TEST(Words, AreLettersDigitsAndOthersEachWithTheSpaceBefore) {
  EXPECT_EQ(words_of("In 1984, he left."), (Words{"In", " 1984", ",", " he", " left", "."}));
  EXPECT_EQ(words_of("x2=(a+b)"), (Words{"x", "2", "=(", "a", "+", "b", ")"}));
}

TEST(Words, OfOtherWhitespaceStandAlone) {
  EXPECT_EQ(words_of("a  b\n\n c\td \n"), (Words{"a", " ", " b", "\n\n", " c", "\t", "d", " \n"}));
  EXPECT_EQ(words_of("   "), (Words{"   "}));
  EXPECT_EQ(words_of(" "), (Words{" "}));
  EXPECT_EQ(words_of(""), Words{});
}

TEST(Words, CountBytesBeyondAsciiAsLetters) {
  EXPECT_EQ(words_of("Größe über\xff!"), (Words{"Größe", " über\xff", "!"}));
}

}  // namespace
}  // namespace pipedream::text
