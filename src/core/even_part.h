// Cutting a number of things into parts of about the same size.
//   10 in 4: [0 1] [2 3 4] [5 6] [7 8 9]
#pragma once

#include <cstdint>

namespace pipedream {

// The numbers first … first + count − 1.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// Part number `part` of `parts`. None is empty when there are at least as many things as parts.
[[nodiscard]] constexpr Range even_part(std::int64_t things, std::int64_t part,
                                        std::int64_t parts) {
  const std::int64_t first = things * part / parts;
  return {first, things * (part + 1) / parts - first};
}

}  // namespace pipedream
