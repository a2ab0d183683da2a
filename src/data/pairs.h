// Data sets of sentences and their translations (docs/runtime.md, data).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/data_set.h"

namespace pipedream::data {

// Reads two files of which line i of one is the translation of line i of the other. The last lines
// are held out: `held_out_share` of them, or a tenth. A second pair of files, if there is one, is
// held out instead. Both languages have one vocabulary: that of `tokeniser` (data/tokeniser.h),
// learned from the lines to train on; without one, as many tokens as the network knows. If
// `earlier` (DataOptions::earlier) has a vocabulary, it is used again.
//
// The source is the tokens of its sentence and the end; the decoder reads the beginning and the
// tokens of the translation; the labels are these tokens and the end. What is left of a row is
// padding: text::kPadding, or model::kPaddingLabel in the labels. Pairs that do not fit the
// network's lengths, and pairs with an empty side, are left out, and a log line says how many.
//
// Throws IoError if a file cannot be read, BadFile if the two of a pair have different numbers of
// lines, CannotMeet if the network does not translate, if it knows too few tokens or if no pair is
// left to train on or to hold out, and BadUsage for another number of files and for a share of a
// second pair. vocabulary_for() says what is thrown for a tokeniser.
[[nodiscard]] Data open_pairs(const std::vector<std::filesystem::path>& files,
                              const model::Network& network,
                              std::optional<double> held_out_share = std::nullopt,
                              const std::string& tokeniser = "",
                              const std::map<std::string, std::string>& earlier = {});

}  // namespace pipedream::data
