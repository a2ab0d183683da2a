// A layer of an imported network: some calls of its program, with their weights.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "imported/functional.h"
#include "imported/step.h"
#include "model/layer.h"
#include "pt2/archive.h"

namespace pipedream::imported {

// Where a layer finds out how many samples a pass has: a size of one of its inputs.
struct SampleCount {
  std::size_t input = 0;
  std::int64_t dimension = 0;
  std::int64_t each = 1;  // the size divided by the number of samples
};

// All that a worker needs to make its own copy of a layer. Immutable once the network is built;
// shared by all workers.
struct Blueprint {
  std::string name;
  std::shared_ptr<const pt2::Archive> archive;
  std::size_t slots = 0;
  std::vector<Step> steps;

  // Slots that are filled before the first step: from the inputs of the layer, and from tensors of
  // the file.
  std::vector<std::size_t> inputs;
  struct FromFile {
    pt2::Input input;
    std::optional<std::size_t> slot;  // none if no step needs it: it is only kept
  };
  std::vector<FromFile> parameters;
  std::vector<FromFile> buffers;
  std::vector<BufferUse> uses;      // for each of `buffers`
  std::vector<FromFile> copies;     // of buffers that other layers own (model::LayerSpec::copies)
  std::vector<FromFile> constants;  // tensors that are in no state dict

  // Slots of the results.
  std::vector<std::size_t> outputs;
  std::vector<pt2::Tensor> output_types;  // parallel to `outputs`
  std::vector<std::size_t> shared;        // indices of the parameters that other layers use too
  // Buffers that get new content after the last step: index of the buffer, and the slot.
  std::vector<std::pair<std::size_t, std::size_t>> renewed;
  std::optional<SampleCount> samples;  // none if no step depends on the number of samples
};

// A tensor of the file, copied to `device`.
[[nodiscard]] at::Tensor load_tensor(const pt2::Archive& archive, const pt2::Input& input,
                                     at::Device device);

// Makes the layer on `device`, with the weights of the file. May be called from several threads.
[[nodiscard]] std::unique_ptr<model::Layer> make_imported_layer(
    std::shared_ptr<const Blueprint> blueprint, at::Device device);

}  // namespace pipedream::imported
