// Text as the tokens that a network was trained with, and back.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "generate/generate.h"
#include "text/vocabulary.h"

namespace pipedream::generate {

// Returns the text that words of a vocabulary stand for. Words that are no tokens of text, such as
// padding and special tokens, are left out.
[[nodiscard]] std::string decoded(std::span<const std::int64_t> words,
                                  const text::Vocabulary& vocabulary);

// Immutable, so safe to use from several threads.
class Codec {
 public:
  // Reads how text became tokens from the metadata of the weights (docs/formats.md#weights). Throws
  // CannotMeet if it does not say so, because the network was not trained on text, and BadFile if
  // what it says is wrong.
  explicit Codec(const std::map<std::string, std::string>& metadata);

  // The text to continue where nobody names one: a line break, or the first byte that occurs.
  [[nodiscard]] std::string usual_beginning() const;
  // The tokens that stand for text.
  [[nodiscard]] Range writable() const;
  // How many tokens there are.
  [[nodiscard]] std::int64_t tokens() const;
  // Throws CannotMeet if the text has a byte that did not occur in the text that was trained on.
  [[nodiscard]] Words encode(std::string_view text) const;
  // Leaves out special tokens, and words that are no tokens because the network has more than
  // tokens().
  [[nodiscard]] std::string decode(const Words& words) const;
  // Whether there are special tokens: a beginning and an end.
  [[nodiscard]] bool has_special() const {
    return std::holds_alternative<text::Vocabulary>(known_);
  }

 private:
  // The bytes that the tokens 0, 1, … stand for, or a vocabulary of byte pairs.
  std::variant<std::string, text::Vocabulary> known_;
};

}  // namespace pipedream::generate
