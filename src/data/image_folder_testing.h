// Writes folders of pictures for tests. Only *_test.cpp files include this.
#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "core/file.h"
#include "image/png_testing.h"

namespace pipedream::data {

// Writes a PNG, and the missing folders of its path. Values of `colour` from 100 on become larger
// by up to 39 from the left to the right; the others are those of all pixels.
inline void write_striped_png(const std::filesystem::path& path, std::uint32_t rows,
                              std::uint32_t columns, std::array<int, 3> colour) {
  std::string bytes;
  for (std::uint32_t i = 0; i < rows * columns; ++i)
    for (const int value : colour)
      bytes += static_cast<char>(value + (value < 100 ? 0 : static_cast<int>(i % columns % 40)));
  std::filesystem::create_directories(path.parent_path());
  write_file_atomically(path, image::png_file({.rows = rows, .columns = columns, .bytes = bytes}));
}

// Writes `count` pictures of each of three classes, of different sizes, each class in a colour of
// its own that becomes lighter from picture to picture.
inline void write_three_classes(const std::filesystem::path& folder, int count) {
  const std::array<const char*, 3> names{"ant", "bee", "cat"};
  for (std::size_t i = 0; i < names.size(); ++i)
    for (int picture = 0; picture < count; ++picture) {
      std::array<int, 3> colour{10, 10, 10};
      colour.at(i) = 100 + 5 * (picture % 20);
      write_striped_png(folder / names.at(i) / (std::to_string(100 + picture) + ".png"),
                        32 + static_cast<std::uint32_t>(picture % 3) * 8, 40, colour);
    }
}

}  // namespace pipedream::data
