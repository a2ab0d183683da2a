// Checks that the address and undefined-behaviour sanitizers report errors. Built only with these
// sanitizers.
#include <limits>
#include <memory>

#include <gtest/gtest.h>

namespace pipedream::test {
namespace {

TEST(AddressSanitizerDeathTest, SeesAFreedByte) {
  auto bytes = std::make_unique<char[]>(16);
  const volatile char* first = bytes.get();
  bytes.reset();
  EXPECT_DEATH(static_cast<void>(*first), "heap-use-after-free");
}

TEST(AddressSanitizerDeathTest, SeesAnOverflow) {
  volatile int largest = std::numeric_limits<int>::max();
  EXPECT_DEATH(largest = largest + 1, "signed integer overflow");
}

}  // namespace
}  // namespace pipedream::test
