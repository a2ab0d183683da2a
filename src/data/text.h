// Data sets of characters from text files, for language models (docs/runtime.md, data).
#pragma once

#include <filesystem>

#include "data/data_set.h"

namespace pipedream::data {

// Reads the file as a sequence of tokens. Each byte is a token; its number is the rank of the byte
// among the bytes that occur in the file. `held_out_share` of the file, its end, is held out. The
// network reads T tokens per sample: sample i begins at position i·T, its labels at position i·T
// + 1.
//
// Throws IoError if the file cannot be read. Throws CannotMeet if the network is no language model,
// if the file has more different bytes than the network has tokens, or if the training or held-out
// part is too short for one sample.
[[nodiscard]] Data open_text(const std::filesystem::path& file, const model::Network& network,
                             double held_out_share = kHeldOutShare);

}  // namespace pipedream::data
