// Reads IDX, the format of MNIST's files: a head with the shape of an array, then its elements.
//   0 0 TYPE DIMENSIONS, then the size of each dimension in 4 bytes (big-endian), then the elements
// Free of libtorch, so that it can be fuzzed; data/idx.h makes data sets of these arrays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream::data {

struct IdxArray {
  std::vector<std::int64_t> shape;  // images: count, rows, columns; labels: count
  std::string bytes;                // the last dimension varies fastest
  friend bool operator==(const IdxArray&, const IdxArray&) = default;
};

// Parses the content of an IDX file, plain or compressed by gzip: an array of unsigned bytes with
// one to three dimensions. Throws BadFile, with `file` and the position in it, for any other kind
// of file, for more than 4 GiB of data, and for fewer or more bytes than the head says.
[[nodiscard]] IdxArray parse_idx(std::string_view content, const std::string& file);

}  // namespace pipedream::data
