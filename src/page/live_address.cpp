#include "page/live_address.h"

#include <charconv>

#include "core/error.h"

namespace pipedream::page {
namespace {

constexpr int kMostPort = 65535;
constexpr int kHttpPort = 80;  // browsers leave it out of `Host`

std::string in_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

LiveAddress parse_live_address(const std::string& text) {
  LiveAddress address;
  const auto fail = [&] {
    throw BadValue("wanted PORT or HOST:PORT, such as 8080 or [::1]:8080, found '" + text + "'");
  };
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  if (colon != std::string::npos) address.host = text.substr(0, colon);
  const bool is_bracketed = address.host.starts_with("[") && address.host.ends_with("]");
  if (is_bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  const bool has_colon = address.host.find(':') != std::string::npos;
  if (address.host.empty() || has_colon != is_bracketed) fail();
  const char* const end_of_text = port.data() + port.size();
  const auto [end, error] = std::from_chars(port.data(), end_of_text, address.port);
  if (error != std::errc{} || end != end_of_text || address.port < 0 || address.port > kMostPort)
    fail();
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
  const auto is = [&](const std::string& name) {
    return host_header == name + ":" + std::to_string(address.port) ||
           (address.port == kHttpPort && host_header == name);
  };
  return is(in_brackets(address.host)) || is("localhost");
}

}  // namespace pipedream::page
