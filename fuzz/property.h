// What every parser promises for any input at all: it gives a value or refuses, and refuses with
// one of our own errors whose message is one line. libFuzzer sees a broken promise as an abort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/error.h"

namespace pipedream::fuzz {

// Runs `parse`, and checks the message where it refuses; other exceptions pass and are crashes.
// `names` must be part of each message: the file, where there is one.
template <class Refusal, class Parse>
void reads_or_refuses(std::string_view names, Parse parse) {
  try {
    parse();
  } catch (const Refusal& refusal) {
    const std::string_view message = refusal.what();
    PD_CHECK(message.find('\n') == std::string_view::npos);
    PD_CHECK(message.find(names) != std::string_view::npos);
    PD_CHECK(message.size() < 2000);
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace pipedream::fuzz
