// Cuts a number of things into consecutive parts whose sizes differ by at most one.
//   10 things in 4 parts: [0 1] [2 3 4] [5 6] [7 8 9]
#pragma once

#include <cstdint>

namespace pipedream {

// The numbers `first` … `first + count − 1`.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// Returns part number `part` (from 0) of `things` things cut into `parts` parts. No part is empty
// if `things` ≥ `parts`.
[[nodiscard]] constexpr Range even_part(std::int64_t things, std::int64_t part,
                                        std::int64_t parts) {
  const std::int64_t first = things * part / parts;
  return {first, things * (part + 1) / parts - first};
}

}  // namespace pipedream
