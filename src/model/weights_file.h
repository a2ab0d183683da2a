// Tensors in safetensors files, which Python and other programs read and write too.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// The content of a safetensors file, in pieces that share the memory of the tensors.
struct WeightsImage {
  std::string head;
  std::vector<at::Tensor> tensors;  // contiguous, in the order of the file
  [[nodiscard]] std::vector<std::string_view> pieces() const;
};
// Returns the content of a file with these CPU tensors, which may have any strides. Throws BadUsage
// if a tensor has a type that such files do not have.
[[nodiscard]] WeightsImage image_of(const NamedTensors& tensors,
                                    const WeightsMetadata& metadata = {});

// A safetensors file whose tensors are read one by one. Immutable, so safe to use from several
// threads.
class WeightsReader {
 public:
  // Opens the file and reads its head. Throws as read_weights() does.
  explicit WeightsReader(const std::filesystem::path& path);
  ~WeightsReader();
  WeightsReader(const WeightsReader&) = delete;
  WeightsReader& operator=(const WeightsReader&) = delete;

  // The names of all tensors, ascending.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const WeightsMetadata& metadata() const;
  // A tensor without its content; nullopt if the file has none of that name.
  struct Entry {
    Shape shape;
    at::ScalarType type = at::kFloat;
  };
  [[nodiscard]] std::optional<Entry> entry(const std::string& name) const;
  // Reads one tensor; nullopt if the file has none of that name. Throws IoError.
  [[nodiscard]] std::optional<at::Tensor> find(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

// The type that safetensors files call `name` ("F32"). Requires a name that
// parse_safetensors_head() lets pass.
[[nodiscard]] at::ScalarType safetensors_type(const std::string& name);

// Turns the tensors of a training into those of PyTorch's state dict. Adds the second names of tied
// weights (Network::second_names), and takes out buffers that are not persistent
// (Network::not_in_state_dict). `metadata` lists both, as metadata_of() makes it.
void make_state_dict(NamedTensors& tensors, WeightsMetadata& metadata);

// How the data was prepared that these weights were trained with: what metadata_of() got as `data`.
[[nodiscard]] WeightsMetadata facts_of_data(const WeightsMetadata& metadata);

// The metadata that other programs need to use the network's weights: the name of the network, its
// options and facts (Network::facts), and how its data was prepared (`data`).
[[nodiscard]] WeightsMetadata metadata_of(const Network& network, const WeightsMetadata& data);

}  // namespace pipedream::model
