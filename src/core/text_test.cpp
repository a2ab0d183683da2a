#include "core/text.h"

#include <gtest/gtest.h>

namespace pipedream {
namespace {

TEST(Printable, KeepsMessagesOnOneLine) { EXPECT_EQ(printable("a\nb\tc\x7f"), "a?b?c?"); }

TEST(Printable, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 3), "abc…");
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("aé", 2), "a…");  // é has two bytes
}

TEST(BriefNumber, DropsZerosThatSayNothing) {
  EXPECT_EQ(brief_number(0.5), "0.5");
  EXPECT_EQ(brief_number(3), "3");
  EXPECT_EQ(brief_number(0), "0");
}

}  // namespace
}  // namespace pipedream
