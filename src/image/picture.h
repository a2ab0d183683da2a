// A decoded picture.
#pragma once

#include <cstdint>
#include <vector>

namespace pipedream::image {

// Pixels of 8 bits per channel: row by row from the top, in each row from the left, and of each
// pixel red, green and blue.
struct Picture {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::uint8_t> pixels{};  // rows * columns * 3
  friend bool operator==(const Picture&, const Picture&) = default;
};

}  // namespace pipedream::image
