// Fuzzes the decoders of PNG and JPEG files. A PNG whose checksums are wrong is refused early, so
// each input is also decoded with the checksums that belong to it.
#include <algorithm>

#include "image/decode.h"
#include "image/png_testing.h"
#include "property.h"

using namespace pipedream;

namespace {

constexpr std::int64_t kMostFuzzedPixels = 4096;

std::uint32_t number_at(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes.substr(0, 4)) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

// The file with the checksums of its chunks made right.
std::string with_checksums(std::string_view file) {
  std::string right(image::kPngSignature);
  for (std::size_t at = right.size(); at + 12 <= file.size();) {
    const std::size_t size =
        std::min<std::size_t>(number_at(file.substr(at)), file.size() - at - 12);
    right += image::png_chunk(std::string(file.substr(at + 4, 4)),
                              std::string(file.substr(at + 8, size)));
    at += size + 12;
  }
  return right;
}

void decode(std::string_view file) {
  fuzz::reads_or_refuses<BadFile>("a.picture", [&] {
    const auto picture = image::decode(file, "a.picture", kMostFuzzedPixels);
    PD_CHECK(picture.rows > 0 && picture.columns > 0);
    PD_CHECK(picture.rows * picture.columns <= kMostFuzzedPixels);
    PD_CHECK(picture.pixels.size() == static_cast<std::size_t>(picture.rows * picture.columns * 3));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file = fuzz::text_of(data, size);
  decode(file);
  if (file.starts_with(image::kPngSignature)) decode(with_checksums(file));
  return 0;
}
