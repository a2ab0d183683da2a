// Text from outside in messages for people, and numbers as text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace pipedream {

// `text` as it may stand in a message: one line whatever it holds (control characters become '?'),
// and at most `most` bytes of it, then "…". UTF-8 characters stay whole.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = 60);

// "a, b, c". `text` makes text of each part.
template <class Parts, class Text = std::identity>
[[nodiscard]] std::string joined(const Parts& parts, Text text = {}) {
  std::string all;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) all += ", ";
    all += std::invoke(text, part);
    first = false;
  }
  return all;
}

// As few digits as six decimals leave: 0.5, 3, 0.125.
[[nodiscard]] std::string brief_number(double number);

// As few digits as give this very number when they are read: 0.5, 3e-07, 0.00012345.
[[nodiscard]] std::string exact_number(double number);

}  // namespace pipedream
