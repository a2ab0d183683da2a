#include "report/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.h"

namespace pipedream::report {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - width_of(text), ' ');
  return align == Align::kLeft ? text + space : space + text;
}

}  // namespace

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (width_of(text) <= most) return text;
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size(); ++end) {
    if (!continues(text[end]) && ++characters == most) break;
  }
  return text.substr(0, end) + "…";
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string grouped_count(std::int64_t number, const std::string& one, const std::string& many) {
  return grouped(number) + " " + (number == 1 ? one : many);
}

std::string four_decimals(double number) { return fmt::format("{:.4f}", number); }

std::string three_digits(double number) {
  if (std::abs(number) >= 99.95) return grouped(std::llround(number));
  return fmt::format("{:#.3g}", number);  // trailing zeros count as digits, too
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string bar(double share, int width) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width * 8));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

void Table::add_row(std::vector<std::string> entries) {
  PD_CHECK(entries.size() == columns_.size());
  rows_.push_back(std::move(entries));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(width_of(columns_[c].title));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string out;
  const auto add_line = [&](const auto& entry_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      line += (c == 0 ? "" : "  ") + padded(entry_of(c), widths[c], columns_[c].align);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) add_line([&](std::size_t c) { return row[c]; });
  return out;
}

}  // namespace pipedream::report
