// The middle one of some numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pipedream {

// Of an even number of them, the upper of both in the middle. Not for none.
template <class Number>
[[nodiscard]] Number median(std::vector<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace pipedream
