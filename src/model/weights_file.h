// Tensors in safetensors files, which Python and other programs read and write too.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <ATen/core/Tensor.h>

#include "model/network.h"

namespace pipedream::model {

using NamedTensors = std::map<std::string, at::Tensor>;

// All tensors of a file, copied to memory. Throws IoError if the file cannot be read, and BadFile,
// with file and place, if its content is wrong.
[[nodiscard]] NamedTensors read_weights(const std::filesystem::path& path);

// Facts that go into a file beside its tensors (docs/formats.md#weights).
using WeightsMetadata = std::map<std::string, std::string>;

// Writes CPU tensors, which may have any strides. A reader sees the old file or the whole new one.
// Throws IoError.
void write_weights(const std::filesystem::path& path, const NamedTensors& tensors,
                   const WeightsMetadata& metadata = {});

// The metadata that other programs need to use the network's weights: the name of the network, its
// options and facts (Network::facts), and how its data was prepared (`data`).
[[nodiscard]] WeightsMetadata metadata_of(const Network& network, const WeightsMetadata& data);

}  // namespace pipedream::model
