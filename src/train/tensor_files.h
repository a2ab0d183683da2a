// Data sets in files of tensors: for each input of the network one tensor, whose first dimension
// counts the samples (docs/own_models.md#data).
#pragma once

#include <filesystem>
#include <vector>

#include "train/data_set.h"

namespace pipedream::train {

// "safetensors:FILE" has one tensor for each input of the network, under the input's name. With a
// second file, that one is held out; else the last tenth of the samples is. Files are read through
// memory, so they may be larger than it. Throws IoError or BadFile for a file that cannot be read,
// and CannotMeet, with a list of all that does not fit the network.
[[nodiscard]] Data open_safetensors(const std::vector<std::filesystem::path>& files,
                                    const model::Network& network);

// "npy:FILE,FILE": one file of numpy.save for each input of the network, in the order in which the
// network takes them, the target last. The last tenth of the samples is held out.
[[nodiscard]] Data open_npy(const std::vector<std::filesystem::path>& files,
                            const model::Network& network);

}  // namespace pipedream::train
