// Decodes PNG and JPEG files (docs/runtime.md, data).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "image/picture.h"

namespace pipedream::image {

// Larger pictures are refused: three bytes for each of these pixels are 300 MB.
inline constexpr std::int64_t kMostPixels = 100'000'000;

// Whether the build has libpng and libjpeg.
[[nodiscard]] bool can_decode();
// Throws CannotMeet, which says what is missing, if it does not have them.
void want_decoder();

// Decodes `file`, the content of a PNG or a JPEG file. The content alone says which of them it is.
// Pictures in grey become red, green and blue of equal value. A transparency is dropped. 16 bits
// per channel are rounded to 8. CMYK and YCCK become RGB. Colour profiles, gamma and the
// orientation in Exif data are ignored. So the result is what torchvision's ImageFolder reads.
//
// Any thread may call this. Throws BadFile, which begins with `name`, if `file` is neither a PNG
// nor a JPEG, is damaged or cut off, or has more than `most_pixels` pixels. Throws CannotMeet in
// builds without the libraries.
[[nodiscard]] Picture decode(std::string_view file, const std::string& name,
                             std::int64_t most_pixels = kMostPixels);

}  // namespace pipedream::image
