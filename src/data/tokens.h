// Files of token numbers, for language models (docs/runtime.md, data).
#pragma once

#include <filesystem>
#include <vector>

#include "data/data_set.h"

namespace pipedream::data {

// Reads files that have one token number after the other, as unsigned integers of 16 bits or, in a
// file whose name ends with ".u32", of 32 bits, the lowest byte first. The first file is trained
// on. The second one is held out; without it, the end of the first, `held_out_share` of it, is. The
// files are mapped, not copied, so they may be larger than the memory.
//
// Throws IoError if a file cannot be read, BadFile if it ends within a token, CannotMeet if the
// network is no language model, if a token is not below the network's vocabulary, or if a part is
// too short for one sample, and BadUsage if a share is to be held out and there are two files.
[[nodiscard]] Data open_tokens(const std::vector<std::filesystem::path>& files,
                               const model::Network& network,
                               std::optional<double> held_out_share = std::nullopt);

}  // namespace pipedream::data
