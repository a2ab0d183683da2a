// The median of a list of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pipedream {

// Returns the median; for an even count, the larger of the two middle numbers. Requires at least
// one number.
template <class Number>
[[nodiscard]] Number median(std::vector<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace pipedream
