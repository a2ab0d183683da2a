// Turns picture files into the values that a network reads.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>

#include "data/augment.h"
#include "data/picture_set.h"
#include "image/picture.h"

namespace pipedream::data {

// The normalised value of each of the 256 bytes, for each channel.
using PixelValues = std::array<std::array<float, 256>, 3>;
[[nodiscard]] PixelValues pixel_values(const Normalisation& normalisation);

// Decodes a file. Throws IoError or BadFile, with its path.
[[nodiscard]] image::Picture read_picture(const std::filesystem::path& path);

// Resizes the picture so that it covers `rows` x `columns`, cuts out its middle and writes its
// bytes, channel by channel, to `out`.
void write_middle(const image::Picture& picture, std::int64_t rows, std::int64_t columns,
                  std::uint8_t* out);

// Resizes the window of the picture to `rows` x `columns` and writes its bytes likewise. Requires
// that the window is inside the picture.
void write_resized(const image::Picture& picture, const Window& window, std::int64_t rows,
                   std::int64_t columns, std::uint8_t* out);

}  // namespace pipedream::data
