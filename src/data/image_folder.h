// Pictures in files, with a folder for each class (docs/runtime.md, data).
#pragma once

#include <filesystem>

#include "data/data_set.h"

namespace pipedream::data {

// Reads the PNG and JPEG files that data/class_folders.h lists in `folder`. If the folder has no
// held-out set, a share of each class is held out. Only the list of files is kept in memory: a
// picture is decoded each time that it is loaded, on several threads at a time.
//
// A picture is resized, bilinearly and with antialiasing, so that it just covers the network's
// height and width, and its middle is used. With the change resized-crop (data/augment.h) a random
// part of it is resized instead. The other changes come after the resizing. Pixels are scaled to
// [0, 1] and normalised.
//
// With `skip_bad` every file is decoded once now. Those that cannot be are left out, and are listed
// in Data::skipped. Without it, load() throws BadFile for such a file.
//
// Throws what read_class_folders() does, CannotMeet if the network does not read images of three
// channels, tells fewer classes apart, or the build cannot decode, and BadUsage if a share is to be
// held out and the folder has a held-out set.
[[nodiscard]] Data open_image_folder(const std::filesystem::path& folder,
                                     const model::Network& network, const DataOptions& options);

}  // namespace pipedream::data
