// IDX, the format of MNIST's files: an array of bytes after a head that says its shape. Free of
// libtorch, so that it can be fuzzed; train/idx.h makes data sets of it.
//   0 0 TYPE DIMENSIONS, then per dimension its size in 4 bytes, highest first, then the elements
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream::train {

struct IdxArray {
  std::vector<std::int64_t> shape;  // images: count, rows, columns; labels: count
  std::string bytes;                // the last dimension varies fastest
  friend bool operator==(const IdxArray&, const IdxArray&) = default;
};

// Reads an array of bytes with one to three dimensions, plain or packed by gzip. Throws BadFile,
// naming file and place, for another kind of file and for one that holds, or unpacks to, fewer or
// more bytes than its head says.
[[nodiscard]] IdxArray parse_idx(std::string_view content, const std::string& file);

}  // namespace pipedream::train
