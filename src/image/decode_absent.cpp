// Takes the place of decode.cpp, png.cpp and jpeg.cpp in builds without libpng or libjpeg.
#include "core/error.h"
#include "image/decode.h"

namespace pipedream::image {

bool can_decode() { return false; }

void want_decoder() {
  throw CannotMeet(
      "this build reads no PNG and JPEG files: install libpng and libjpeg (Debian: libpng-dev "
      "libjpeg-dev) and build again");
}

Picture decode(std::string_view, const std::string&, std::int64_t) {
  want_decoder();
  return {};
}

}  // namespace pipedream::image
