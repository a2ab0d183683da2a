// Writes JPEG files for tests. Only *_test.cpp files include this.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include <jpeglib.h>

namespace pipedream::image {

struct JpegContent {
  unsigned rows;
  unsigned columns;
  std::string bytes;  // pixel by pixel
  J_COLOR_SPACE colours = JCS_RGB;
  int channels = 3;
  int quality = 95;
  bool progressive = false;
};

[[nodiscard]] inline std::string jpeg_file(const JpegContent& content) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);  // ends the process, which a test may do
  jpeg_create_compress(&encoder);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &bytes, &size);
  encoder.image_height = content.rows;
  encoder.image_width = content.columns;
  encoder.input_components = content.channels;
  encoder.in_color_space = content.colours;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, content.quality, TRUE);
  if (content.progressive) jpeg_simple_progression(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  const std::size_t row = content.bytes.size() / content.rows;
  std::string line;
  while (encoder.next_scanline < content.rows) {
    line = content.bytes.substr(encoder.next_scanline * row, row);
    auto* samples = reinterpret_cast<JSAMPROW>(line.data());
    (void)jpeg_write_scanlines(&encoder, &samples, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return file;
}

}  // namespace pipedream::image
