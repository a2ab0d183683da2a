// Generators of random values for the property tests of all modules. Only *_property_test.cpp and
// *_slow_test.cpp files, and the *_testing.h headers that they include, include this.
#pragma once

#include <cstddef>
#include <string>

#include <rapidcheck.h>

namespace pipedream::test {

// Returns any number in [begin, end). Every case draws from the whole range; RapidCheck by itself
// would begin with small numbers.
template <class Int>
[[nodiscard]] Int any_of_range(Int begin, Int end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Int>(begin, end));
}

// Returns any index into a vector of `size` elements. Requires that `size` is not 0.
[[nodiscard]] inline std::size_t any_index(std::size_t size) {
  return any_of_range<std::size_t>(0, size);
}

// Returns any short text without control characters. It may hold non-ASCII characters and
// characters that JSON must escape.
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
