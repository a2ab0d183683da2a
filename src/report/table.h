// Text tables for people.
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

// Rows of text under a line of titles; columns as wide as their widest entry, counted in
// characters (UTF-8), two spaces between.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One entry per column.
  void add_row(std::vector<std::string> entries);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// `text`, or its beginning and "…" where it has more than `most` characters (at least 1): `most` in
// all.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);

// Characters, not bytes.
[[nodiscard]] std::size_t width_of(const std::string& text);

// 138357544 → "138,357,544".
[[nodiscard]] std::string grouped(std::int64_t number);

// 0.1234 → "12.3 %".
[[nodiscard]] std::string percent(double share);

// 2.30258 → "2.3026".
[[nodiscard]] std::string four_digits(double number);

// As a speed is told: 1234.5 → "1,235", 12.345 → "12.3", 0.012345 → "0.0123".
[[nodiscard]] std::string three_digits(double number);

// A bar of `share` (0 … 1) of `width` characters, in eighths of one.
[[nodiscard]] std::string bar(double share, int width);

}  // namespace pipedream::report
