// Encodes many texts with one vocabulary, and remembers the words that it has seen.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/vocabulary.h"

namespace pipedream::text {

// Thread-compatible: one thread at a time. The vocabulary must outlive the encoder.
class Encoder {
 public:
  explicit Encoder(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // Appends the tokens of `text` to `tokens`, as Vocabulary::encode() returns them.
  void append(std::string_view text, std::vector<Token>& tokens);

 private:
  struct Hash {
    using is_transparent = void;  // finds a std::string_view without a copy of it
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>()(word);
    }
  };

  const Vocabulary& vocabulary_;
  std::unordered_map<std::string, std::vector<Token>, Hash, std::equal_to<>> known_;
};

}  // namespace pipedream::text
