// Vocabularies of byte pairs (byte-level BPE; Sennrich et al. 2016): which tokens a text is made
// of. docs/formats.md describes their files (text/vocabulary_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pipedream::text {

using Token = std::uint32_t;

// Special tokens stand for no text.
inline constexpr Token kPadding = 0;    // fills short sentences
inline constexpr Token kBeginning = 1;  // a decoder reads it before the first token
inline constexpr Token kEnd = 2;        // follows the last token of a sentence
// Byte b has the token kFirstByte + b, and merge number i makes the token kFirstMerge + i.
inline constexpr Token kFirstByte = 3;
inline constexpr Token kFirstMerge = kFirstByte + 256;

inline constexpr std::size_t kLongestToken = 1024;     // in bytes
inline constexpr std::size_t kMostTokens = 1'000'000;  // of a vocabulary

// Two tokens that make a new one where they follow each other within a word.
struct Merge {
  Token left = 0;
  Token right = 0;
  friend bool operator==(const Merge&, const Merge&) = default;
};

// The special tokens, the 256 bytes, and one token per merge. Immutable, so safe to use from
// several threads.
class Vocabulary {
 public:
  // Each merge has tokens that exist before it, none of them special, and makes at most
  // kLongestToken bytes. No merge is there twice.
  explicit Vocabulary(std::vector<Merge> merges = {});

  // How many tokens there are, special ones included.
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::vector<Merge>& merges() const { return merges_; }
  // The token that a merge of these two makes; nullopt if there is no such merge.
  [[nodiscard]] std::optional<Token> merged(Token left, Token right) const;

  // Returns the tokens of `text`, none of them special: decode(encode(text)) == text for any bytes.
  // The text is split into words (text/words.h). In each, the merge that was learned first is
  // applied wherever it can be, from left to right, then the next one. Takes O(n log n) time.
  // Encoder (text/encoder.h) is faster for many short texts.
  [[nodiscard]] std::vector<Token> encode(std::string_view text) const;
  // Returns the text that the tokens stand for. Special tokens are left out. All tokens must be
  // less than size().
  [[nodiscard]] std::string decode(std::span<const Token> tokens) const;

  friend bool operator==(const Vocabulary& a, const Vocabulary& b) {
    return a.merges_ == b.merges_;
  }

 private:
  std::vector<Merge> merges_;
  std::vector<std::string> bytes_;                    // by token
  std::unordered_map<std::uint64_t, Token> of_pair_;  // by pair_key(): the merged token
};

// One number for a pair of tokens. Pairs are in the order of their left tokens, then of their right
// ones.
[[nodiscard]] constexpr std::uint64_t pair_key(Token left, Token right) {
  return std::uint64_t{left} << 32 | right;
}

// Returns a vocabulary of `tokens` tokens in all (kFirstMerge to kMostTokens) for texts that are
// like these. Each step merges the two tokens that follow each other most often within words; of
// pairs that are equally frequent, the one with the smaller left token, then the smaller right one.
// Overlapping pairs all count ("aaa" has the pair "a" "a" twice). Merges that would make tokens
// longer than kLongestToken are left out. The vocabulary is smaller if no other pair occurs twice.
// Depends on the texts alone, not on the machine. Takes O(n log n) time in the size of the
// distinct words, of which there may be 4 GiB.
[[nodiscard]] Vocabulary learn_vocabulary(std::span<const std::string_view> texts,
                                          std::size_t tokens);

}  // namespace pipedream::text
