// Data sets in files of tensors: for each input of the network one tensor, whose first dimension
// counts the samples (docs/own_models.md#data).
#pragma once

#include <filesystem>
#include <vector>

#include "data/data_set.h"

namespace pipedream::data {

// "safetensors:FILE" has one tensor for each input of the network, under the input's name. A second
// file is held out. Without one, the last samples are: `held_out_share`, or a tenth. Files are
// memory-mapped, so they may be larger than the machine's memory. Throws IoError or BadFile for a
// file that cannot be read, CannotMeet, with a list of all that does not fit the network, and
// BadUsage if a share is to be held out and there is a second file.
//
// Labels of captions may be padding (model/padding.h). If captions have no words for the decoder to
// read, these are the labels, one position later: first text::kBeginning, and text::kPadding where
// the label before is padding.
[[nodiscard]] Data open_safetensors(const std::vector<std::filesystem::path>& files,
                                    const model::Network& network,
                                    std::optional<double> held_out_share);

// "npy:FILE,FILE": one file of numpy.save for each input of the network, in the order in which the
// network takes them, the target last. The last samples are held out.
[[nodiscard]] Data open_npy(const std::vector<std::filesystem::path>& files,
                            const model::Network& network, double held_out_share);

}  // namespace pipedream::data
