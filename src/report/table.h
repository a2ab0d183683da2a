// Text tables for people, and numbers as tables show them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pipedream::report {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

// Rows of text under a line of titles. A column is as wide as its widest entry, counted in
// characters of UTF-8. Two spaces separate columns.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Requires one entry per column.
  void add_row(std::vector<std::string> entries);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Returns `text` if it has at most `most` characters. Otherwise returns its beginning and "…",
// together `most` characters. Requires `most` ≥ 1.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);

// Returns the number of characters of UTF-8 text, not of bytes.
[[nodiscard]] std::size_t width_of(const std::string& text);

// 138357544 → "138,357,544".
[[nodiscard]] std::string grouped(std::int64_t number);

// 1234 → "1,234 samples", 1 → "1 sample".
[[nodiscard]] std::string grouped_count(std::int64_t number, const std::string& one,
                                        const std::string& many);

// 0.1234 → "12.3 %".
[[nodiscard]] std::string percent(double share);

// 2.30258 → "2.3026".
[[nodiscard]] std::string four_decimals(double number);

// Returns a number with three digits, or more if it is 1,000 or larger:
// 1234.5 → "1,235", 12.345 → "12.3", 0.012345 → "0.0123".
[[nodiscard]] std::string three_digits(double number);

// Returns a bar that fills `share` (0 … 1) of `width` characters, to an eighth of a character.
[[nodiscard]] std::string bar(double share, int width);

}  // namespace pipedream::report
