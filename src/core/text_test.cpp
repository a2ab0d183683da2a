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

}  // namespace
}  // namespace pipedream
