// Data sets of characters or tokens from text files, for language models (docs/runtime.md, data).
#pragma once

#include <filesystem>

#include "data/data_set.h"

namespace pipedream::data {

// Reads the file as a sequence of tokens. With a `tokeniser` (data/tokeniser.h), they are those of
// its vocabulary, which is learned from the part to train on. Without one, each byte is a token;
// its number is the rank of the byte among the bytes that occur in the file. `held_out_share` of
// the file's bytes, its end, is held out. The network reads T tokens per sample: sample i begins at
// position i·T, its labels at position i·T + 1.
//
// `earlier` is DataOptions::earlier: its vocabulary, or its bytes, are used again.
//
// Throws IoError if the file cannot be read. Throws CannotMeet if the network is no language model,
// if the file has a byte that `earlier` has not, or more different tokens than the network knows,
// or if the training or held-out part is too short for one sample. vocabulary_for() says what is
// thrown for a tokeniser.
[[nodiscard]] Data open_text(const std::filesystem::path& file, const model::Network& network,
                             double held_out_share = kHeldOutShare,
                             const std::string& tokeniser = "",
                             const std::map<std::string, std::string>& earlier = {});

}  // namespace pipedream::data
