// CIFAR-10 and CIFAR-100 from their binary files (docs/runtime.md, data).
#pragma once

#include <filesystem>

#include "data/augment.h"
#include "data/data_set.h"

namespace pipedream::data {

// Reads the data sets in `folder`. Of CIFAR-10, data_batch_1.bin … data_batch_5.bin are trained on,
// as many as are there, and test_batch.bin is held out. Of CIFAR-100, train.bin is trained on,
// test.bin is held out, and the labels are the 100 fine ones. If there is nothing to hold out, the
// last 10 % of the images, or `held_out_share`, are, and a log line says so. Pixels are scaled to
// [0, 1], then normalised with the data set's mean and standard deviation. picture_data()
// (data/picture_set.h) says what networks read.
//
// Throws IoError if there is nothing to train on or a file cannot be read, BadFile if its content
// is wrong, CannotMeet if the images do not fit the network, and BadUsage if a share is to be held
// out and the folder has held-out images.
[[nodiscard]] Data open_cifar(const std::filesystem::path& folder, const model::Network& network,
                              std::optional<double> held_out_share = std::nullopt,
                              const Augmenter& augmenter = {});

}  // namespace pipedream::data
