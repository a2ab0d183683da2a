// Making text from outside safe to show in messages, and writing lists and numbers as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream {

// Returns `text` in a form that is safe in a message: control characters, line ends among them,
// become '?', and "…" replaces what follows the first `most` bytes. No UTF-8 character is cut in
// half.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = 60);

// Returns the parts, separated by commas: "a, b, c". `text` converts each part to a string.
template <class Parts, class Text = std::identity>
[[nodiscard]] std::string joined(const Parts& parts, Text text = {},
                                 std::string_view separator = ", ") {
  std::string all;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) all += separator;
    all += std::invoke(text, part);
    first = false;
  }
  return all;
}

// Returns the sizes of a tensor as in "[3, 4]".
template <class Sizes>
[[nodiscard]] std::string shape_text(const Sizes& sizes) {
  return "[" + joined(sizes, [](std::int64_t size) { return std::to_string(size); }) + "]";
}

// Returns the parts of `text` between separators: one more than there are separators.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

// Whether `text` is UTF-8, as JSON demands.
[[nodiscard]] bool is_utf8(std::string_view text);

// to_hex() returns the bytes of `text` as pairs of hexadecimal digits, and from_hex() reverses it.
// from_hex() returns nullopt if `digits` is not such a text.
[[nodiscard]] std::string to_hex(std::string_view text);
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);

// Returns a number with its noun: "1 core", "2 cores".
[[nodiscard]] std::string counted(std::int64_t number, const std::string& one,
                                  const std::string& many);

// Returns `number` with up to six decimals, without trailing zeros: 0.5, 3, 0.125.
[[nodiscard]] std::string brief_number(double number);

// Returns the shortest text that reads back as exactly the same double: 0.5, 3e-07, 0.00012345.
[[nodiscard]] std::string exact_number(double number);

}  // namespace pipedream
