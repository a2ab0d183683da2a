// What every parser promises for any input: it returns a value, or throws one of our own errors
// with a message of one line. If a parser breaks the promise, the process aborts, which libFuzzer
// reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/error.h"

namespace pipedream::fuzz {

// Runs `parse`. If it throws a `Refusal`, aborts unless the message is short, has one line, and
// contains `names`, such as the name of the file. Other exceptions pass through, which libFuzzer
// reports as crashes.
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
