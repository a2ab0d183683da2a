// The head of a .npy file, in which NumPy keeps one array. This code does not use libtorch and does
// not read the data, so that it can be fuzzed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream {

struct NpyHead {
  std::uint64_t size = 0;  // bytes of the head; the data follow
  std::string type;        // as in safetensors files: "F32", "I64", …
  std::vector<std::int64_t> shape;
  friend bool operator==(const NpyHead&, const NpyHead&) = default;
};

// Reads the head of a file. `content` is the whole file; `file` is only used in messages. Throws
// BadFile if the head is damaged, if the array is in Fortran's order, has a type that is no plain
// number of this machine, or if the file is too short for it.
[[nodiscard]] NpyHead parse_npy_head(std::string_view content, const std::string& file);

}  // namespace pipedream
