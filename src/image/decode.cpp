#include "image/decode.h"

#include "core/error.h"
#include "core/text.h"
#include "image/formats.h"

namespace pipedream::image {
namespace {

constexpr std::int64_t kChannels = 3;

}  // namespace

bool can_decode() { return true; }

void want_decoder() {}

Picture decode(std::string_view file, const std::string& name, std::int64_t most_pixels) {
  const Source source{file, name, most_pixels};
  if (is_png(file)) return decode_png(source);
  if (is_jpeg(file)) return decode_jpeg(source);
  throw BadFile(name + ": byte 0: wanted a PNG or a JPEG file, found " +
                (file.empty() ? "an empty file" : "other content"));
}

void refuse(const Source& source, std::size_t at, std::string_view why) {
  throw BadFile(source.name + ": byte " + std::to_string(at) + ": " + printable(why, 200));
}

Picture black(const Source& source, std::int64_t rows, std::int64_t columns) {
  if (rows > source.most_pixels / columns)
    throw BadFile(source.name + ": wanted at most " + std::to_string(source.most_pixels) +
                  " pixels, found " + std::to_string(columns) + " x " + std::to_string(rows));
  Picture picture{rows, columns};
  picture.pixels.resize(static_cast<std::size_t>(rows * columns * kChannels));
  return picture;
}

}  // namespace pipedream::image
