// Tensors in safetensors files, which Python and other programs read and write too.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <ATen/core/Tensor.h>

namespace pipedream::model {

using NamedTensors = std::map<std::string, at::Tensor>;

// All tensors of a file, copied to memory. Throws IoError if the file cannot be read, and BadFile,
// with file and place, if its content is wrong.
[[nodiscard]] NamedTensors read_weights(const std::filesystem::path& path);

// Writes CPU tensors, which may have any strides. A reader sees the old file or the whole new one.
// Throws IoError.
void write_weights(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace pipedream::model
