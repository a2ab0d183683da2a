// The two formats that decode() reads, each by its library, and what they have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "image/picture.h"

namespace pipedream::image {

// What a decoder needs.
struct Source {
  std::string_view file;
  const std::string& name;
  std::int64_t most_pixels;
};

// Whether the file begins as such files do.
[[nodiscard]] bool is_png(std::string_view file);
[[nodiscard]] bool is_jpeg(std::string_view file);

// As decode(), for one format. Require that the file begins so.
[[nodiscard]] Picture decode_png(const Source& source);
[[nodiscard]] Picture decode_jpeg(const Source& source);

// Throws BadFile: the decoder stopped at byte `at` because of `why`, in the words of its library.
[[noreturn]] void refuse(const Source& source, std::size_t at, std::string_view why);

// Returns a picture of these sides, all black. Throws BadFile if it has too many pixels.
[[nodiscard]] Picture black(const Source& source, std::int64_t rows, std::int64_t columns);

}  // namespace pipedream::image
