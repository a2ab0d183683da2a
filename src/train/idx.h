// Images with labels in the files of MNIST and its kin (train/idx_format.h).
#pragma once

#include <filesystem>

#include "train/data_set.h"

namespace pipedream::train {

// The part of the images that are trained on where a folder has no set of its own to hold out.
inline constexpr double kIdxTrainingPart = 0.8;

// The folder's train-images-idx3-ubyte and train-labels-idx1-ubyte are trained on, its t10k-… are
// held out; each as it is or with .gz. Where it has only one of the two sets, the first 80 % of
// that are trained on and the rest is held out, and a log line says so.
//
// Images are resized to the network's and repeated over its channels (1 or 3), or become one row of
// features where their number fits. Pixels have MNIST's mean and deviation taken out.
// Throws IoError, BadFile, and CannotMeet where images or labels do not fit the network.
[[nodiscard]] Data open_idx(const std::filesystem::path& folder, const model::Network& network);

}  // namespace pipedream::train
