// Tensors in safetensors files, which Python and other programs read and write too.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <ATen/core/Tensor.h>

namespace pipedream::model {

using NamedTensors = std::map<std::string, at::Tensor>;

// All tensors of a file, copied to memory. Throws IoError, or BadFile with file and place.
[[nodiscard]] NamedTensors read_weights(const std::filesystem::path& path);

// Writes CPU tensors of any strides; atomically, like all our files.
void write_weights(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace pipedream::model
