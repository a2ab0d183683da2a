#include "data/tokeniser.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "data/token_set.h"
#include "text/vocabulary_file.h"

namespace pipedream::data {
namespace {

// The number of "bpe:8000".
std::size_t tokens_to_learn(const std::string& tokeniser) {
  const char* begin = tokeniser.data() + kLearnedTokeniser.size();
  const char* end = tokeniser.data() + tokeniser.size();
  std::size_t tokens = 0;
  const auto [stop, error] = std::from_chars(begin, end, tokens);
  if (error != std::errc{} || stop != end || tokens < text::kFirstMerge ||
      tokens > text::kMostTokens)
    throw BadUsage("`tokeniser` " + printable(tokeniser) + ": wanted a number of tokens from " +
                   std::to_string(text::kFirstMerge) + " to " + std::to_string(text::kMostTokens) +
                   ", as in bpe:8000");
  return tokens;
}

}  // namespace

bool is_vocabulary_file(const std::string& tokeniser) {
  return !tokeniser.empty() && !tokeniser.starts_with(kLearnedTokeniser);
}

Vocabulary vocabulary_for(const std::string& tokeniser,
                          const std::map<std::string, std::string>& earlier,
                          std::span<const std::string_view> training, std::int64_t known,
                          const model::Network& network) {
  const auto kept = earlier.find("vocabulary");
  const auto made = std::make_shared<const text::Vocabulary>(
      kept != earlier.end() ? text::parse_vocabulary(kept->second, "the weights' data.vocabulary")
      : is_vocabulary_file(tokeniser)
          ? text::read_vocabulary(tokeniser)
          : text::learn_vocabulary(training, tokens_to_learn(tokeniser)));
  // A file that is gone was the one that the vocabulary is from.
  if (kept != earlier.end() && is_vocabulary_file(tokeniser) && is_there(tokeniser) &&
      !(text::read_vocabulary(tokeniser) == *made))
    throw CannotMeet("`tokeniser` " + printable(tokeniser) +
                     " is not the vocabulary that the weights were trained with: leave it out");
  const auto size = static_cast<std::int64_t>(made->size());
  want_vocabulary(size, "the vocabulary " + printable(tokeniser) + " has " + std::to_string(size),
                  known, network);
  return made;
}

std::string default_tokeniser(std::int64_t known, const model::Network& network) {
  want_vocabulary(
      text::kFirstMerge,
      "one for each byte and three special ones are " + std::to_string(text::kFirstMerge), known,
      network);
  return std::string(kLearnedTokeniser) +
         std::to_string(std::min(known, static_cast<std::int64_t>(text::kMostTokens)));
}

}  // namespace pipedream::data
