#include "core/text.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace pipedream {
namespace {

TEST(Printable, KeepsMessagesOnOneLine) { EXPECT_EQ(printable("a\nb\tc\x7f"), "a?b?c?"); }

TEST(Printable, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 3), "abc…");
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("aé", 2), "a…");  // é has two bytes
}

TEST(Joined, HasCommasBetween) {
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
  EXPECT_EQ(joined(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(joined(std::vector<std::string>{"", "b", "c"}), ", b, c");
  EXPECT_EQ(joined(std::set{1, 2}, [](int number) { return std::to_string(number); }), "1, 2");
}

TEST(BriefNumber, DropsZerosThatSayNothing) {
  EXPECT_EQ(brief_number(0.5), "0.5");
  EXPECT_EQ(brief_number(3), "3");
  EXPECT_EQ(brief_number(0), "0");
}

TEST(ExactNumber, ReadsBackAsTheSameNumber) {
  EXPECT_EQ(exact_number(0.5), "0.5");
  EXPECT_EQ(exact_number(64), "64");
  EXPECT_EQ(exact_number(0.00012345), "0.00012345");
  for (const double number : {3e-7, 0.00012345, 0.1, 1.0 / 3, 1e6, -2.2250738585072014e-308, 0.0})
    EXPECT_EQ(std::stod(exact_number(number)), number);
}

TEST(Split, HasOnePartMoreThanThereAreSeparators) {
  EXPECT_EQ(split("a,b", ','), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split(",", ','), (std::vector<std::string>{"", ""}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
}

}  // namespace
}  // namespace pipedream
