// The head of a safetensors file, which lists the tensors of the file and where their bytes are.
// Trained weights are written in this format (docs/formats.md#run-folder). This code does not use
// libtorch and does not read the data, so that it can be fuzzed; model/weights_file.h reads and
// writes the tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream {

struct SafetensorsEntry {
  std::string name;
  std::string type;  // "F32", "I64", …
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // offset of the first byte, counted from the end of the head
  std::uint64_t end = 0;    // offset after the last byte, counted from the end of the head
  friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

// Facts about the file that its reader may want, by name.
using SafetensorsMetadata = std::map<std::string, std::string>;

struct SafetensorsHead {
  std::uint64_t size = 0;  // bytes of the head, including the eight bytes that hold its length
  std::vector<SafetensorsEntry> entries;  // in the order of their data in the file
  SafetensorsMetadata metadata;
};

// Reads the head of a file of `file_size` bytes. `content` is the beginning of the file and holds
// at least the head. Throws BadFile if the head is longer than `content` or 100 MB, if it is not
// valid JSON, if metadata is not text, if a type is unknown, if a tensor's size overflows or
// differs from its shape × type, or if the data overlap, leave a gap or do not end with the file.
[[nodiscard]] SafetensorsHead parse_safetensors_head(std::string_view content,
                                                     std::uint64_t file_size,
                                                     const std::string& file);

// Returns the bytes of a head for `entries`. The tensors' data follow each other in this order;
// `begin` and `end` of the entries are ignored. Metadata must be UTF-8.
[[nodiscard]] std::string make_safetensors_head(std::vector<SafetensorsEntry> entries,
                                                const SafetensorsMetadata& metadata = {});

// Returns the bytes of one element of `type`, or 0 if there is no such type.
[[nodiscard]] std::uint64_t safetensors_element_size(std::string_view type);

}  // namespace pipedream
