// How text becomes tokens, as `tokeniser` says (docs/runtime.md#text).
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "model/network.h"
#include "text/vocabulary.h"

namespace pipedream::data {

// "bpe:8000": a vocabulary of 8000 tokens is learned from the samples to train on. Any other text:
// the file of a vocabulary (docs/formats.md, vocabulary).
inline constexpr std::string_view kLearnedTokeniser = "bpe:";

// Whether `tokeniser` is the name of a file.
[[nodiscard]] bool is_vocabulary_file(const std::string& tokeniser);

using Vocabulary = std::shared_ptr<const text::Vocabulary>;

// Returns the vocabulary of `earlier` (DataOptions::earlier) if it has one, and else the one that
// `tokeniser` names. `training` are the texts to train on: a vocabulary
// that is learned depends on them alone, so all workers learn the same. Throws BadUsage if it names
// a number of tokens that cannot be learned, IoError or BadFile if a file cannot be read, and
// CannotMeet if the network knows fewer tokens, `known`, than the vocabulary has, or if `tokeniser`
// is a file with another vocabulary than that of `earlier`.
[[nodiscard]] Vocabulary vocabulary_for(const std::string& tokeniser,
                                        const std::map<std::string, std::string>& earlier,
                                        std::span<const std::string_view> training,
                                        std::int64_t known, const model::Network& network);

// The vocabulary that `tokeniser` asks for where a network that knows `known` tokens gets none by
// the user: as many tokens as it knows. Throws CannotMeet if these are less than there are bytes.
[[nodiscard]] std::string default_tokeniser(std::int64_t known, const model::Network& network);

}  // namespace pipedream::data
