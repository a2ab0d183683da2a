#include "data/text.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "data/token_set.h"
#include "data/tokeniser.h"

namespace pipedream::data {
namespace {

using Tokens = std::vector<std::uint8_t>;

// The bytes that occur in a file.
struct Alphabet {
  std::array<std::uint8_t, 256> rank{};  // of each byte, among the bytes that occur
  std::vector<unsigned char> bytes;      // that occur, in ascending order

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(bytes.size()); }
};

Alphabet alphabet_of(const std::string& text) {
  std::array<bool, 256> occurs{};
  for (const char c : text) occurs[static_cast<unsigned char>(c)] = true;
  Alphabet alphabet;
  for (std::size_t byte = 0; byte < occurs.size(); ++byte)
    if (occurs[byte]) {
      alphabet.rank[byte] = static_cast<std::uint8_t>(alphabet.bytes.size());
      alphabet.bytes.push_back(static_cast<unsigned char>(byte));
    }
  return alphabet;
}

// The bytes that weights know, which `digits` has. Throws CannotMeet if `text` has another one.
Alphabet earlier_alphabet(const std::string& digits, const std::string& text,
                          const std::filesystem::path& file) {
  const auto bytes = from_hex(digits);
  if (!bytes) throw BadFile("the weights' data.tokens: wanted pairs of hexadecimal digits");
  const std::size_t other = text.find_first_not_of(*bytes);
  if (other != text.npos)
    throw CannotMeet(file.string() + ": byte " + std::to_string(other) + " is 0x" +
                     to_hex(text.substr(other, 1)) +
                     ", which does not occur in the text that the weights were trained on");
  return alphabet_of(*bytes);
}

Tokens tokens_of(const std::string& text, const Alphabet& alphabet) {
  Tokens tokens(text.size());
  std::transform(text.begin(), text.end(), tokens.begin(),
                 [&](char c) { return alphabet.rank[static_cast<unsigned char>(c)]; });
  return tokens;
}

// A part of a file as tokens of a vocabulary.
std::unique_ptr<const DataSet> encoded(std::string_view text, const text::Vocabulary& vocabulary,
                                       const std::string& part, const LanguageModel& task) {
  const auto tokens = std::make_shared<const std::vector<text::Token>>(vocabulary.encode(text));
  want_enough(tokens->size(), part, "tokens", task);
  return std::make_unique<TokenSet<text::Token>>(*tokens, tokens, task);
}

}  // namespace

Data open_text(const std::filesystem::path& file, const model::Network& network,
               double held_out_share, const std::string& tokeniser,
               const std::map<std::string, std::string>& earlier) {
  const LanguageModel task = language_model(network, "text is");
  const std::string text = read_file(file);
  const auto held_out =
      static_cast<std::size_t>(share_of(static_cast<std::int64_t>(text.size()), held_out_share));
  const std::string held_out_part = "the held-out end of " + file.string();
  const std::string training_part = "the part of " + file.string() + " to train on";
  if (!tokeniser.empty() && earlier.contains("tokens"))
    throw CannotMeet("`tokeniser`: the weights were trained on the bytes of a text: leave it out");
  if (!tokeniser.empty() || earlier.contains("vocabulary")) {
    const std::string_view part = std::string_view(text).substr(0, text.size() - held_out);
    const Vocabulary vocabulary =
        vocabulary_for(tokeniser, earlier, std::span(&part, 1),
                       std::min(task.tokens.bound, task.labels.bound), network);
    Data data{encoded(part, *vocabulary, training_part, task), nullptr};
    if (held_out_share > 0)
      data.held_out =
          encoded(std::string_view(text).substr(part.size()), *vocabulary, held_out_part, task);
    data.set_vocabulary(vocabulary);
    return data;
  }
  const Alphabet alphabet = earlier.contains("tokens")
                                ? earlier_alphabet(earlier.at("tokens"), text, file)
                                : alphabet_of(text);
  want_vocabulary(
      alphabet.count(),
      file.string() + " has " + std::to_string(alphabet.count()) + " different characters", task,
      network);
  constexpr const char* kKind = "characters";
  if (held_out_share > 0) want_enough(held_out, held_out_part, kKind, task);
  const std::size_t training = text.size() - held_out;
  want_enough(training, training_part, kKind, task);
  const auto owner = std::make_shared<const Tokens>(tokens_of(text, alphabet));
  const std::span<const std::uint8_t> tokens(*owner);
  return {std::make_unique<TokenSet<std::uint8_t>>(tokens.first(training), owner, task),
          std::make_unique<TokenSet<std::uint8_t>>(tokens.last(held_out), owner, task),
          // The bytes that the tokens 0, 1, … stand for.
          {{"tokens", to_hex(std::string(alphabet.bytes.begin(), alphabet.bytes.end()))}}};
}

}  // namespace pipedream::data
