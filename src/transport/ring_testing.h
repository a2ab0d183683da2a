// What ring_all_reduce promises, computed in one place. Only *_test.cpp files include this.
#pragma once

#include <vector>

namespace pipedream::transport {

// The sums of values[member], in the order that ring.h states.
[[nodiscard]] inline std::vector<float> ring_order_sum(
    const std::vector<std::vector<float>>& values) {
  const std::size_t r = values.size(), n = values.front().size();
  std::vector<float> sums(n);
  for (std::size_t c = 0; c < r; ++c) {
    for (std::size_t i = n * c / r; i < n * (c + 1) / r; ++i) {
      sums[i] = values[c][i];
      for (std::size_t step = 1; step < r; ++step) sums[i] += values[(c + step) % r][i];
    }
  }
  return sums;
}

}  // namespace pipedream::transport
