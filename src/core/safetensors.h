// The head of a safetensors file: which tensors it holds and where (docs/formats.md#safetensors).
// Torch-free and without the data, so that it can be fuzzed; model/weights_file.h reads tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream {

struct SafetensorsEntry {
  std::string name;
  std::string type;  // "F32", "I64", …
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // of its bytes, counted from the end of the head
  std::uint64_t end = 0;
  friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

struct SafetensorsHead {
  std::uint64_t size = 0;  // of the head itself, the eight bytes of its length included
  std::vector<SafetensorsEntry> entries;  // by position in the file
};

// Reads the head of a file of `file_size` bytes; `content` is its beginning, at least the head.
// Throws BadFile for a length that exceeds the content, bad JSON, an unknown type, sizes that
// overflow or differ from shape × type, and data that overlap, leave a gap or pass the file's end.
[[nodiscard]] SafetensorsHead parse_safetensors_head(std::string_view content,
                                                     std::uint64_t file_size,
                                                     const std::string& file);

// The bytes of a head for these tensors; positions are assigned in the order given.
[[nodiscard]] std::string make_safetensors_head(std::vector<SafetensorsEntry> entries);

// The bytes of one element; 0 for a type that does not exist.
[[nodiscard]] std::uint64_t safetensors_element_size(std::string_view type);

}  // namespace pipedream
