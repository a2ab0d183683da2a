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

std::string counted(std::int64_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

}  // namespace pipedream
