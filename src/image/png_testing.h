// Writes PNG files for tests. Only *_test.cpp files and fuzz targets include this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <zlib.h>

namespace pipedream::image {

inline constexpr std::string_view kPngSignature{"\x89PNG\r\n\x1a\n", 8};

[[nodiscard]] inline std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift);
  return bytes;
}

// A chunk with its checksum.
[[nodiscard]] inline std::string png_chunk(const std::string& type, const std::string& content) {
  const std::string checked = type + content;
  const auto sum =
      ::crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + checked +
         big_endian(static_cast<std::uint32_t>(sum));
}

enum PngColours { kPngGrey = 0, kPngRgb = 2, kPngPalette = 3, kPngGreyAlpha = 4, kPngRgba = 6 };

struct PngContent {
  std::uint32_t rows;
  std::uint32_t columns;
  std::string bytes;  // of all rows, each of a whole number of bytes
  PngColours colours = kPngRgb;
  int depth = 8;             // bits per channel
  std::string between = "";  // chunks before the pixels
};

[[nodiscard]] inline std::string png_file(const PngContent& content) {
  const std::string head =
      big_endian(content.columns) + big_endian(content.rows) +
      std::string{static_cast<char>(content.depth), static_cast<char>(content.colours), 0, 0, 0};
  const std::size_t row = content.bytes.size() / content.rows;
  std::string lines;
  for (std::size_t begin = 0; begin < content.bytes.size(); begin += row)
    lines += '\0' + content.bytes.substr(begin, row);  // 0: the row is not filtered
  uLongf size = ::compressBound(static_cast<uLong>(lines.size()));
  std::string packed(size, '\0');
  (void)::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                   reinterpret_cast<const Bytef*>(lines.data()), static_cast<uLong>(lines.size()));
  packed.resize(size);
  return std::string(kPngSignature) + png_chunk("IHDR", head) + content.between +
         png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

}  // namespace pipedream::image
