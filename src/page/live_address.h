// Where a page is served while its training runs.
#pragma once

#include <string>

namespace pipedream::page {

struct LiveAddress {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: the system chooses one
};

// Reads [HOST:]PORT: "8080", "0.0.0.0:8080", "[::1]:0". Throws BadValue.
[[nodiscard]] LiveAddress parse_live_address(const std::string& text);

// Returns what a browser is to open: "http://127.0.0.1:8080/".
[[nodiscard]] std::string url_of(const LiveAddress& address);

// Whether only programs on this machine can reach the address.
[[nodiscard]] bool is_loopback(const LiveAddress& address);

// Whether to answer a request whose header `Host` is `host_header`. A server on a loopback address
// answers only to its own names. This prevents DNS rebinding: a foreign web page cannot read this
// one through a host name that resolves to 127.0.0.1.
[[nodiscard]] bool is_meant(const LiveAddress& address, const std::string& host_header);

}  // namespace pipedream::page
