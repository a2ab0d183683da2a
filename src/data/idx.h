// Data sets of images with labels from IDX files, the format of MNIST (data/idx_format.h;
// docs/runtime.md, data).
#pragma once

#include <filesystem>

#include "data/augment.h"
#include "data/data_set.h"

namespace pipedream::data {

// If a folder has only one set of images, the share of them that is held out unless the user names
// another.
inline constexpr double kIdxHeldOutShare = 0.2;

// Reads the data sets in `folder`. train-images-idx3-ubyte and train-labels-idx1-ubyte are trained
// on; t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte are held out. Each file may be compressed,
// with the ending .gz. If the folder has only one of the two sets, the last 20 % of its images, or
// `held_out_share`, are held out, and a log line says so.
//
// If the network reads images, images are resized to its height and width and repeated over its
// channels (1 or 3). If it reads features, an image becomes one row, and the network must have one
// feature per pixel. Pixels are scaled to [0, 1], then normalised with MNIST's mean and standard
// deviation.
//
// Throws IoError if a file is missing or cannot be read, BadFile if its content is wrong, and
// CannotMeet if the network is no classifier or images or labels do not fit it, and BadUsage if a
// share is to be held out and the folder has both sets.
[[nodiscard]] Data open_idx(const std::filesystem::path& folder, const model::Network& network,
                            std::optional<double> held_out_share = std::nullopt,
                            const Augmenter& augmenter = {});

}  // namespace pipedream::data
