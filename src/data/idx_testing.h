// Writes IDX files for tests and fuzzing (data/idx_format.h).
#pragma once

#include <string>

#include "data/idx_format.h"

namespace pipedream::data {

// The content of an uncompressed IDX file with this array.
[[nodiscard]] inline std::string idx_file(const IdxArray& array) {
  std::string file{0, 0, 8, static_cast<char>(array.shape.size())};
  for (const std::int64_t side : array.shape)
    for (const int shift : {24, 16, 8, 0}) file += static_cast<char>(side >> shift);
  return file + array.bytes;
}

}  // namespace pipedream::data
