// Words as chains of tokens that are merged in place.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace pipedream::text {

// Tokens are named by positions, which stay the same when others are merged. Words are apart: no
// token of one word is a neighbour of a token of another.
class Chain {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;  // no position

  // Adds a word, as the tokens of its bytes, at the next positions. All words have less than kNone
  // bytes together.
  void add_word(std::string_view word) {
    const auto begin = static_cast<std::uint32_t>(links_.size());
    const auto end = begin + static_cast<std::uint32_t>(word.size());
    for (std::uint32_t at = begin; at < end; ++at)
      links_.push_back({kFirstByte + static_cast<unsigned char>(word[at - begin]),
                        at == begin ? kNone : at - 1, at + 1 == end ? kNone : at + 1});
  }

  [[nodiscard]] std::size_t size() const { return links_.size(); }  // positions
  [[nodiscard]] Token operator[](std::uint32_t at) const { return links_[at].token; }
  // The position of the neighbour; kNone at an end of the word.
  [[nodiscard]] std::uint32_t before(std::uint32_t at) const { return links_[at].before; }
  [[nodiscard]] std::uint32_t after(std::uint32_t at) const { return links_[at].after; }

  // Whether the token at `at` and the next one are those of `merge`.
  [[nodiscard]] bool has(std::uint32_t at, const Merge& merge) const {
    return links_[at].token == merge.left && links_[at].after != kNone &&
           links_[links_[at].after].token == merge.right;
  }

  // Makes the token at `at` and the next one one token, at `at`. The next one's position is then
  // free: has() is false there.
  void merge(std::uint32_t at, Token merged) {
    Link& left = links_[at];
    Link& right = links_[left.after];
    left.token = merged;
    left.after = right.after;
    if (left.after != kNone) links_[left.after].before = at;
    right = {};
  }

 private:
  struct Link {
    Token token = kPadding;  // in no merge
    std::uint32_t before = kNone;
    std::uint32_t after = kNone;
  };
  std::vector<Link> links_;
};

}  // namespace pipedream::text
