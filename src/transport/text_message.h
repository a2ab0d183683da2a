// Text as the bytes of a message.
#pragma once

#include <string>

#include "transport/transport.h"

namespace pipedream::transport {

// Returns a message that holds a copy of `text`, and `header` beside it.
[[nodiscard]] inline Message text_message(const std::string& text,
                                          std::vector<std::int64_t> header = {}) {
  const auto owned = std::make_shared<const std::string>(text);
  return {std::move(header), std::as_bytes(std::span(*owned)), owned};
}

[[nodiscard]] inline std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()};
}

}  // namespace pipedream::transport
