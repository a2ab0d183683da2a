#include "text/bleu.h"

#include <gtest/gtest.h>

namespace pipedream::text {
namespace {

using Sentence = std::vector<std::string>;

// Scores and sums that sacrebleu 2.6.0 computes.
struct Known {
  const char* translation;
  const char* reference;
  double score;
  BleuSums sums;
};

const Known kKnown[] = {
    {"the cat sat on the mat", "the cat sat on the mat", 100, {{6, 5, 4, 3}, {6, 5, 4, 3}, 6, 6}},
    {"The cat sat on mat.",
     "The cat sat on the mat.",
     51.15078115793242,
     {{6, 4, 2, 1}, {6, 5, 4, 3}, 6, 7}},
    {"a completely different thing",
     "the cat sat on the mat",
     0,
     {{0, 0, 0, 0}, {4, 3, 2, 1}, 4, 6}},
    {"It costs 1,000.50 dollars-or so, he said.",
     "It cost 1,000.50 dollars -- or so, she said.",
     11.949988385687533,
     {{6, 2, 0, 0}, {9, 8, 7, 6}, 9, 11}},
    {"the the the the the",
     "the cat is on the mat",
     10.400597689005304,
     {{2, 0, 0, 0}, {5, 4, 3, 2}, 5, 6}},
    {"cat", "cat", 0, {{1, 0, 0, 0}, {1, 0, 0, 0}, 1, 1}},
    {"", "the", 0, {{0, 0, 0, 0}, {0, 0, 0, 0}, 0, 1}},
    {"Caf\u00e9s\u00a0open at 10-11, &quot;daily&quot;",
     "Caf\u00e9s open at 10-11, \"daily\"",
     100,
     {{10, 9, 8, 7}, {10, 9, 8, 7}, 10, 10}}};

TEST(Bleu, IsThatOfSacrebleuForSentences) {
  for (const Known& known : kKnown) {
    const BleuSums sums = bleu_sums(known.translation, known.reference);
    EXPECT_EQ(sums, known.sums) << known.translation;
    EXPECT_NEAR(bleu(sums), known.score, 1e-9) << known.translation;
  }
}

TEST(Bleu, OfACorpusIsThatOfTheSumsOfItsSentences) {
  BleuSums all;
  for (const Known& known : kKnown) all += bleu_sums(known.translation, known.reference);
  EXPECT_EQ(all, (BleuSums{{31, 20, 14, 11}, {41, 34, 28, 22}, 41, 48}));
  EXPECT_NEAR(bleu(all), 48.68210993191745, 1e-9);
}

TEST(Bleu, OfNothingIsZero) { EXPECT_EQ(bleu({}), 0); }

TEST(Bleu, SplitsSentencesByTheRulesOfMteval) {
  EXPECT_EQ(bleu_tokens("Hello, world!"), (Sentence{"Hello", ",", "world", "!"}));
  EXPECT_EQ(bleu_tokens("1,000.50 is 3.14."), (Sentence{"1,000.50", "is", "3.14", "."}));
  EXPECT_EQ(bleu_tokens("It's 10-11 o'clock."),
            (Sentence{"It's", "10", "-", "11", "o'clock", "."}));
  EXPECT_EQ(bleu_tokens("a.b,c"), (Sentence{"a", ".", "b", ",", "c"}));
  EXPECT_EQ(bleu_tokens("x&lt;y &amp;amp; z"), (Sentence{"x", "<", "y", "&", "amp", ";", "z"}));
  EXPECT_EQ(bleu_tokens("\u3000wide\u2003space\u00a0here "), (Sentence{"wide", "space", "here"}));
}

}  // namespace
}  // namespace pipedream::text
