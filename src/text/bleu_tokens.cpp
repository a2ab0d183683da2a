#include <algorithm>
#include <array>
#include <utility>

#include "text/bleu.h"

// The rules look at single bytes. They give the same tokens as if they looked at characters,
// because all bytes of a character beyond ASCII are neither digits nor punctuation.

namespace pipedream::text {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }

// Punctuation that always stands alone: that of ASCII without ' , - and the full stop.
bool stands_alone(char c) {
  return c > ' ' && c < 0x7f && !is_digit(c) && !(c >= 'a' && c <= 'z') &&
         !(c >= 'A' && c <= 'Z') && c != '\'' && c != '-' && !is_stop(c);
}

std::string replaced(const std::string& text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(from, at)) != text.npos; at = found + from.size())
    result.append(text, at, found - at).append(to);
  return result.append(text, at);
}

// Rewrites pairs of characters, from left to right: where fits(first, second), to(first, second)
// is written, and the search goes on behind the two.
template <class Fits, class To>
std::string rewritten(const std::string& text, Fits fits, To to) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at + 1 < text.size() && fits(text[at], text[at + 1])) {
      result += to(text[at], text[at + 1]);
      ++at;
    } else {
      result += text[at];
    }
  }
  return result;
}

// How many bytes at the beginning of `text` are a whitespace character of Unicode; 0 if none is.
std::size_t whitespace_at(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned first = byte(0);
  if (first == ' ' || (first >= '\t' && first <= '\r') || (first >= 0x1c && first <= 0x1f))
    return 1;
  if (first == 0xc2 && (byte(1) == 0x85 || byte(1) == 0xa0)) return 2;
  const unsigned point = (first & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  const bool is_three_long = (first & 0xf0) == 0xe0 && text.size() >= 3;
  const bool is_space = point == 0x1680 || (point >= 0x2000 && point <= 0x200a) ||
                        point == 0x2028 || point == 0x2029 || point == 0x202f || point == 0x205f ||
                        point == 0x3000;
  return is_three_long && is_space ? 3 : 0;
}

std::vector<std::string> split_at_whitespace(std::string_view text) {
  std::vector<std::string> parts;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t blank = whitespace_at(text);
    if (blank == 0) {
      if (!inside) parts.emplace_back();
      parts.back() += text[0];
    }
    inside = blank == 0;
    text.remove_prefix(std::max<std::size_t>(blank, 1));
  }
  return parts;
}

// Without whitespace at the end.
std::string_view trimmed(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t blank = whitespace_at(text.substr(at));
    at += std::max<std::size_t>(blank, 1);
    if (blank == 0) end = at;
  }
  return text.substr(0, end);
}

// Removes what mteval removes, and reads its entities.
std::string plain(std::string_view sentence) {
  constexpr std::array<std::pair<const char*, const char*>, 7> kReplacements{{{"<skipped>", ""},
                                                                              {"-\n", ""},
                                                                              {"\n", " "},
                                                                              {"&quot;", "\""},
                                                                              {"&amp;", "&"},
                                                                              {"&lt;", "<"},
                                                                              {"&gt;", ">"}}};
  std::string text(trimmed(sentence));
  for (const auto& [from, to] : kReplacements) text = replaced(text, from, to);
  return text;
}

}  // namespace

std::vector<std::string> bleu_tokens(std::string_view sentence) {
  std::string text;
  for (const char c : " " + plain(sentence) + " ")
    text += stands_alone(c) ? std::string{' ', c, ' '} : std::string{c};
  // A full stop or comma after anything but a digit, then one before anything but a digit, then a
  // dash after a digit.
  text = rewritten(
      text, [](char a, char b) { return !is_digit(a) && is_stop(b); },
      [](char a, char b) {
        return std::string{a, ' ', b, ' '};
      });
  text = rewritten(
      text, [](char a, char b) { return is_stop(a) && !is_digit(b); },
      [](char a, char b) {
        return std::string{' ', a, ' ', b};
      });
  text = rewritten(
      text, [](char a, char b) { return is_digit(a) && b == '-'; },
      [](char a, char b) {
        return std::string{a, ' ', b, ' '};
      });
  return split_at_whitespace(text);
}

}  // namespace pipedream::text
