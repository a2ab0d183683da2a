#include "text/words.h"

#include <cstddef>

namespace pipedream::text {
namespace {

enum class Kind { kSpace, kLetter, kDigit, kOther };

Kind kind_of(char character) {
  const auto c = static_cast<unsigned char>(character);
  if (c == ' ' || (c >= '\t' && c <= '\r')) return Kind::kSpace;
  if (c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Kind::kLetter;
  return c >= '0' && c <= '9' ? Kind::kDigit : Kind::kOther;
}

// Where the run of characters of one kind that begins at `begin` ends.
std::size_t end_of_run(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && kind_of(text[end]) == kind_of(text[begin])) ++end;
  return end;
}

}  // namespace

std::string_view first_word(std::string_view text) {
  text = text.substr(0, kLongestWord);
  const std::size_t end = end_of_run(text, 0);
  if (kind_of(text[0]) != Kind::kSpace || end == text.size() || text[end - 1] != ' ')
    return text.substr(0, end);
  // The last space belongs to the word behind it.
  return end == 1 ? text.substr(0, end_of_run(text, 1)) : text.substr(0, end - 1);
}

}  // namespace pipedream::text
