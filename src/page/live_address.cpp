#include "page/live_address.h"

#include <charconv>

#include "core/error.h"

namespace pipedream::page {
namespace {

constexpr int kMostPort = 65535;

std::string in_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

LiveAddress parse_live_address(const std::string& text) {
  LiveAddress address;
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  if (colon != std::string::npos) address.host = text.substr(0, colon);
  if (address.host.starts_with("[") && address.host.ends_with("]"))
    address.host = address.host.substr(1, address.host.size() - 2);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc{} || end != port.data() + port.size() || address.port < 0 ||
      address.port > kMostPort || address.host.empty())
    throw BadValue("wanted PORT or HOST:PORT, such as 8080, found '" + text + "'");
  return address;
}

std::string url_of(const LiveAddress& address) {
  return "http://" + in_brackets(address.host) + ":" + std::to_string(address.port) + "/";
}

bool is_loopback(const LiveAddress& address) {
  return address.host == "localhost" || address.host == "::1" || address.host.starts_with("127.");
}

bool is_meant(const LiveAddress& address, const std::string& host_header) {
  if (!is_loopback(address)) return true;
  const std::string port = ":" + std::to_string(address.port);
  return host_header == in_brackets(address.host) + port || host_header == "localhost" + port;
}

}  // namespace pipedream::page
