#include "place/core_claims.h"

#include <optional>

#include <gtest/gtest.h>

namespace pipedream::place {
namespace {

// Numbers that no machine has, so that no training on this one is disturbed.
constexpr int kFirst = 1'000'000, kSecond = 1'000'001, kThird = 1'000'002;

TEST(CoreClaims, HoldAsLongAsTheyAreKept) {
  std::optional<CoreClaims> first(std::in_place, Units{kFirst, kSecond});
  EXPECT_TRUE(first->of_others().empty());
  first->keep_only({kSecond});
  CoreClaims second({kFirst, kSecond, kThird});
  EXPECT_EQ(second.of_others(), Units{kSecond});
  second.keep_only({kThird});
  first.reset();
  EXPECT_EQ(CoreClaims({kFirst, kSecond, kThird}).of_others(), Units{kThird});
}

TEST(CoreClaims, GoOnWhenAnotherProcessChoosesForever) {
  const CoreClaims first({kFirst});  // never says what it keeps
  EXPECT_EQ(CoreClaims({kFirst, kSecond}).of_others(), Units{kFirst});
}

}  // namespace
}  // namespace pipedream::place
