// Text files for language models, character by character.
#pragma once

#include <filesystem>

#include "train/data_set.h"

namespace pipedream::train {

// Tokens are bytes, numbered by their rank among those that occur in the file. The last 10 % of the
// file are held out. Sample i is the window of T tokens that begins at i·T; its labels are one
// token further on. Throws IoError, and CannotMeet for a network that is no language model, for
// more different bytes than it knows tokens, and for a file too short for one sample of each part.
[[nodiscard]] Data open_text(const std::filesystem::path& file, const model::Network& network);

}  // namespace pipedream::train
