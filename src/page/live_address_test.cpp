#include "page/live_address.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace pipedream::page {
namespace {

TEST(LiveAddress, IsAPortWithOrWithoutAHost) {
  EXPECT_EQ(url_of(parse_live_address("8080")), "http://127.0.0.1:8080/");
  EXPECT_EQ(url_of(parse_live_address("0.0.0.0:1")), "http://0.0.0.0:1/");
  EXPECT_EQ(url_of(parse_live_address("[::1]:65535")), "http://[::1]:65535/");
  for (const char* bad :
       {"", "x", ":80", "host:", "80a", "65536", "-1", "1.5", "::1", "::1:80", "[::1:80", "[a]:80"})
    EXPECT_THROW((void)parse_live_address(bad), BadValue) << bad;
}

TEST(LiveAddress, OnLoopbackIsMeantByItsOwnNamesAlone) {
  const LiveAddress own{"127.0.0.1", 8080};
  EXPECT_TRUE(is_loopback(own));
  EXPECT_TRUE(is_meant(own, "127.0.0.1:8080"));
  EXPECT_TRUE(is_meant(own, "localhost:8080"));
  EXPECT_FALSE(is_meant(own, "evil.example:8080"));
  EXPECT_FALSE(is_meant(own, "127.0.0.1:8081"));
  EXPECT_FALSE(is_meant(own, ""));
  EXPECT_TRUE(is_meant({"127.0.0.1", 80}, "127.0.0.1")) << "browsers leave 80 out";
  EXPECT_FALSE(is_meant({"127.0.0.1", 80}, "evil.example"));
  const LiveAddress all{"0.0.0.0", 8080};
  EXPECT_FALSE(is_loopback(all));
  EXPECT_TRUE(is_meant(all, "trainer.example:8080"));
}

}  // namespace
}  // namespace pipedream::page
