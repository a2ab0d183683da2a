// Random values that property tests of all modules share. Only *_property_test.cpp and
// *_slow_test.cpp files, and their *_testing.h, include this.
#pragma once

#include <cstddef>
#include <string>

#include <rapidcheck.h>

namespace pipedream::test {

// At full size from the first case on: RapidCheck would begin with the low end of the range.
template <class Int>
[[nodiscard]] Int any_of_range(Int begin, Int end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Int>(begin, end));
}

// An index into a vector of that size, which is not empty.
[[nodiscard]] inline std::size_t any_index(std::size_t size) {
  return any_of_range<std::size_t>(0, size);
}

// Any text without control characters, in ASCII and beyond; also what JSON must escape.
[[nodiscard]] inline std::string any_text() {
  std::string text;
  for (int i = any_of_range(0, 6); i > 0; --i) {
    if (any_of_range(0, 8) == 0)
      text += "→";
    else
      text += static_cast<char>(any_of_range(32, 127));
  }
  return text;
}

}  // namespace pipedream::test
