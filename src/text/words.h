// Splits text into the words that byte pairs are merged in (text/vocabulary.h).
#pragma once

#include <cstddef>
#include <string_view>

namespace pipedream::text {

inline constexpr std::size_t kLongestWord = 1 << 20;  // in bytes

// Returns the first word of `text`, which must not be empty. A word is a run of letters, of digits
// or of other characters, with the space before it if there is one. Bytes from 0x80 on count as
// letters, so characters beyond ASCII stay whole. Other whitespace makes a word of its own. All
// words of a text, one after the other, are the text. What is longer than kLongestWord is cut.
[[nodiscard]] std::string_view first_word(std::string_view text);

// Calls use(word) for each word of `text`, in order.
template <class Use>
void for_each_word(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::string_view word = first_word(text);
    use(word);
    text.remove_prefix(word.size());
  }
}

}  // namespace pipedream::text
