#include "pt2/size.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace pipedream::pt2 {
namespace {

TEST(Size, BothFormsOfSympyAreRead) {
  const struct {
    const char* text;
    std::int64_t at_five;
  } cases[] = {
      {"7", 7},
      {"s0", 5},
      {"Symbol('s77', positive=True, integer=True)", 5},
      {"Mul(Integer(2), Symbol('s0', positive=True, integer=True))", 10},
      {"Add(Mul(Integer(-1), Symbol('s0')), Integer(12))", 7},
      {"FloorDiv(Symbol('s0'), Integer(2))", 2},
      {"Mod(Symbol('s0'), Integer(3))", 2},
      {"PythonMod(Add(Symbol('s0'), Integer(-7)), Integer(3))", 1},
      {"Pow(Symbol('s0'), Integer(2))", 25},
      {"Max(Integer(1), Integer(9), Symbol('s0'), evaluate=False)", 9},
      {"Min(Symbol('s0'), Integer(2))", 2},
      {"2*s0 + 1", 11},
      {"s0 - 2 - 1", 2},
      {"(s0 + 1)//4", 1},
      {"-s0 + 6", 1},
      {"s0**2*2", 50},
      {"10/s0", 2},
      {"(s0 - 7)//2", -1},
  };
  for (const auto& each : cases) EXPECT_EQ(Size::parse(each.text).at(5), each.at_five) << each.text;
}

TEST(Size, WhatIsNotUnderstoodIsRefused) {
  for (const char* text :
       {"", "s0 +", "2 s0", "Symbol()", "Symbol('s0'", "sin(s0)", "1.5", "99999999999999999999",
        "Rational(1, 2)", "(((", "Symbol('')", "Mul()", "Integer(1)) + 1"})
    EXPECT_THROW((void)Size::parse(text), BadValue) << text;
  EXPECT_THROW((void)Size::parse(std::string(5000, '(')), BadValue);
  EXPECT_THROW((void)Size::parse(std::string(5000, '-')), BadValue);
  EXPECT_THROW((void)Size::parse(std::string(20000, '1')), BadValue);
}

TEST(Size, ResultsThatAreNoSizesAreRefused) {
  EXPECT_THROW((void)Size::parse("s0//0").at(1), BadValue);
  EXPECT_THROW((void)Size::parse("s0/2").at(5), BadValue);
  EXPECT_THROW((void)Size::parse("s0*s0").at(INT64_MAX), BadValue);
  EXPECT_THROW((void)Size::parse("s0 + 1").at(INT64_MAX), BadValue);
  EXPECT_THROW((void)Size::parse("2**s0").at(63), BadValue);
  EXPECT_THROW((void)Size::parse("s0//(0 - 1)").at(INT64_MIN), BadValue);
  EXPECT_THROW((void)Size::parse("s0/3").at(INT64_MIN), BadValue);
  EXPECT_FALSE(Size::parse("s0/2").value_at(5));
  EXPECT_EQ(Size::parse("s0/2").value_at(6), 3);
}

TEST(Size, NumbersTakeThePlaceOfSymbols) {
  const Size size = Size::parse("s0*s1 + 1");
  EXPECT_EQ(size.symbols(), (std::set<std::string>{"s0", "s1"}));
  const Size one = size.with({{"s1", 3}});
  EXPECT_EQ(one.symbols(), std::set<std::string>{"s0"});
  EXPECT_EQ(one.at(4), 13);
  EXPECT_FALSE(one.is_number());
  EXPECT_EQ(one.with({{"s0", 2}}), Size(7));
  EXPECT_TRUE(Size::parse("s0").is_symbol());
  EXPECT_FALSE(size.is_symbol());
}

}  // namespace
}  // namespace pipedream::pt2
