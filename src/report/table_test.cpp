#include "report/table.h"

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirWidestEntry) {
  Table table({{"name"}, {"size", Align::kRight}, {"last"}});
  table.add_row({"a", "1", "x"});
  table.add_row({"longer", "12345", ""});
  EXPECT_EQ(table.text(),
            "name     size  last\n"
            "a           1  x\n"
            "longer  12345\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"µ"}, {"→", Align::kRight}});
  table.add_row({"██", "1 µs"});
  EXPECT_EQ(table.text(),
            "µ      →\n"
            "██  1 µs\n");
}

TEST(Table, WithoutRowsHasItsTitles) {
  EXPECT_EQ(Table({{"a"}, {"b"}}).text(), "a  b\n");
  EXPECT_EQ(Table({{""}}).text(), "\n");
}

TEST(TableDeathTest, ARowHasOneEntryPerColumn) {
  Table table({{"a"}, {"b"}});
  EXPECT_DEATH(table.add_row({"only one"}), "entries.size\\(\\) == columns_.size\\(\\)");
}

TEST(WidthOf, CountsCharacters) {
  EXPECT_EQ(width_of(""), 0U);
  EXPECT_EQ(width_of("abc"), 3U);
  EXPECT_EQ(width_of("a→▌é𝄞"), 5U);
}

TEST(Shortened, LeavesTextThatFits) {
  EXPECT_EQ(shortened("", 3), "");
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("äöü", 3), "äöü");
}

TEST(Shortened, EndsLongerTextWithAnEllipsisWithinTheLimit) {
  EXPECT_EQ(shortened("abcd", 3), "ab…");
  EXPECT_EQ(shortened("äöüß", 3), "äö…");
  EXPECT_EQ(shortened("abcd", 1), "…");
}

TEST(Percent, HasOneDecimal) {
  EXPECT_EQ(percent(0.1234), "12.3 %");
  EXPECT_EQ(percent(0), "0.0 %");
  EXPECT_EQ(percent(1), "100.0 %");
  EXPECT_EQ(percent(0.0006), "0.1 %");
}

TEST(ThreeDigits, AreThoseThatCount) {
  EXPECT_EQ(three_digits(1234.5), "1,235");
  EXPECT_EQ(three_digits(100), "100");
  EXPECT_EQ(three_digits(99.96), "100");
  EXPECT_EQ(three_digits(12.345), "12.3");
  EXPECT_EQ(three_digits(1), "1.00");
  EXPECT_EQ(three_digits(0.012345), "0.0123");
}

TEST(Bar, IsDrawnInEighths) {
  EXPECT_EQ(bar(0, 4), "");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.5, 4), "██");
  EXPECT_EQ(bar(1.0 / 32, 4), "▏");
  EXPECT_EQ(bar(13.0 / 32, 4), "█▋");
  EXPECT_EQ(bar(31.0 / 32, 4), "███▉");
}

TEST(Bar, RoundsToTheNearestEighth) {
  EXPECT_EQ(bar(0.4 / 8, 1), "");
  EXPECT_EQ(bar(0.6 / 8, 1), "▏");
}

TEST(Bar, StaysWithinItsWidth) {
  EXPECT_EQ(bar(-0.5, 4), "");
  EXPECT_EQ(bar(1.5, 4), "████");
}

}  // namespace
}  // namespace pipedream::report
