#include "text/vocabulary.h"

#include "core/check.h"
#include "text/encoder.h"

namespace pipedream::text {

Vocabulary::Vocabulary(std::vector<Merge> merges) : merges_(std::move(merges)) {
  bytes_.resize(kFirstByte);
  for (int byte = 0; byte < 256; ++byte) bytes_.emplace_back(1, static_cast<char>(byte));
  for (const auto& [left, right] : merges_) {
    PD_CHECK(left >= kFirstByte && right >= kFirstByte);
    PD_CHECK(left < bytes_.size() && right < bytes_.size());
    const bool is_new =
        of_pair_.emplace(pair_key(left, right), static_cast<Token>(bytes_.size())).second;
    PD_CHECK(is_new);
    bytes_.push_back(bytes_[left] + bytes_[right]);
    PD_CHECK(bytes_.back().size() <= kLongestToken);
  }
}

std::optional<Token> Vocabulary::merged(Token left, Token right) const {
  const auto found = of_pair_.find(pair_key(left, right));
  return found == of_pair_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Token> Vocabulary::encode(std::string_view text) const {
  std::vector<Token> tokens;
  Encoder(*this).append(text, tokens);
  return tokens;
}

std::string Vocabulary::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token token : tokens) {
    PD_CHECK(token < bytes_.size());
    text += bytes_[token];
  }
  return text;
}

}  // namespace pipedream::text
