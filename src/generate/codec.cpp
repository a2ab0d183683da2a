#include "generate/codec.h"

#include "core/error.h"
#include "core/text.h"
#include "text/vocabulary_file.h"

namespace pipedream::generate {
namespace {

using Metadata = std::map<std::string, std::string>;

std::variant<std::string, text::Vocabulary> known_in(const Metadata& metadata) {
  if (const auto found = metadata.find("data.vocabulary"); found != metadata.end())
    return text::parse_vocabulary(found->second, "the weights' data.vocabulary");
  const auto bytes = metadata.find("data.tokens");
  if (bytes == metadata.end())
    throw CannotMeet(
        "the weights do not say which text their tokens stand for: the network was trained on "
        "tokens or made-up data, not on text");
  const auto read = from_hex(bytes->second);
  if (!read || read->empty())
    throw BadFile("the weights' data.tokens: wanted pairs of hexadecimal digits, found '" +
                  printable(bytes->second) + "'");
  return *read;
}

// A byte for people: the character, or a number if it is only a part of one.
std::string name_of(char byte) {
  const std::string_view text(&byte, 1);
  return is_utf8(text) ? "'" + printable(text) + "'" : "byte 0x" + to_hex(text);
}

Words places_in(const std::string& bytes, std::string_view text) {
  Words words;
  for (const char byte : text) {
    const std::size_t place = bytes.find(byte);
    if (place == bytes.npos)
      throw CannotMeet("the text that was trained on has no " + name_of(byte) +
                       ": leave it out of the prompt");
    words.push_back(static_cast<std::int64_t>(place));
  }
  return words;
}

}  // namespace

std::string decoded(std::span<const std::int64_t> words, const text::Vocabulary& vocabulary) {
  std::vector<text::Token> tokens;
  for (const std::int64_t word : words)
    if (word >= 0 && static_cast<std::size_t>(word) < vocabulary.size())
      tokens.push_back(static_cast<text::Token>(word));
  return vocabulary.decode(tokens);
}

Codec::Codec(const Metadata& metadata) : known_(known_in(metadata)) {}

std::string Codec::usual_beginning() const {
  const auto* bytes = std::get_if<std::string>(&known_);
  return bytes == nullptr || bytes->find('\n') != bytes->npos ? "\n" : bytes->substr(0, 1);
}

Range Codec::writable() const {
  const std::int64_t special = has_special() ? text::kFirstByte : 0;
  return {special, tokens() - special};
}

std::int64_t Codec::tokens() const {
  const auto* bytes = std::get_if<std::string>(&known_);
  return static_cast<std::int64_t>(bytes != nullptr ? bytes->size()
                                                    : std::get<text::Vocabulary>(known_).size());
}

Words Codec::encode(std::string_view text) const {
  if (const auto* bytes = std::get_if<std::string>(&known_)) return places_in(*bytes, text);
  const auto tokens = std::get<text::Vocabulary>(known_).encode(text);
  return {tokens.begin(), tokens.end()};
}

std::string Codec::decode(const Words& words) const {
  const auto* bytes = std::get_if<std::string>(&known_);
  if (bytes == nullptr) return decoded(words, std::get<text::Vocabulary>(known_));
  std::string text;
  for (const std::int64_t word : words)
    if (word >= 0 && word < tokens()) text += (*bytes)[static_cast<std::size_t>(word)];
  return text;
}

}  // namespace pipedream::generate
