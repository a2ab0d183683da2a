#include "core/text.h"

#include <array>
#include <charconv>

namespace pipedream {

std::string printable(std::string_view text, std::size_t most) {
  const bool cut = text.size() > most;
  std::size_t end = cut ? most : text.size();
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  if (cut)
    while (end > 0 && continues(end)) --end;
  std::string shown;
  for (const char c : text.substr(0, end))
    shown += (static_cast<unsigned char>(c) < 32 || c == 127) ? '?' : c;
  return cut ? shown + "…" : shown;
}

std::string brief_number(double number) {
  std::string digits = std::to_string(number);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

std::string exact_number(double number) {
  std::array<char, 32> digits{};  // the longest text has 24 characters: -2.2250738585072014e-308
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return {digits.data(), end};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80             ? 1
                               : (first & 0xE0) == 0xC0 ? 2
                               : (first & 0xF0) == 0xE0 ? 3
                               : (first & 0xF8) == 0xF0 ? 4
                                                        : 0;
    if (length == 0 || i + length > text.size()) return false;
    std::uint32_t point = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      point = point << 6 | (next & 0x3FU);
    }
    // By length: the lowest code point. A lower one has a shorter form, and UTF-8 demands that.
    constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kLeast[length] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      return false;
    i += length;
  }
  return true;
}

std::string to_hex(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte / 16], kDigits[byte % 16]};
  }
  return hex;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned int byte = 0;
    const char* end = digits.data() + i + 2;
    const auto [stop, error] = std::from_chars(digits.data() + i, end, byte, 16);
    if (error != std::errc{} || stop != end) return std::nullopt;
    text += static_cast<char>(byte);
  }
  return text;
}

std::string counted(std::int64_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

}  // namespace pipedream
