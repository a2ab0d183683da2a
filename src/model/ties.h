// Tied weights: one parameter that several layers use. Each use is a leaf tensor of its own, a copy
// with its own gradient, so that the uses may lie in different stages. Whoever updates adds up the
// gradients of all uses in layer order, each already summed over its microbatches, and applies the
// same step to every copy.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/network.h"

namespace pipedream::model {

// A parameter by its place.
struct Use {
  LayerId layer;
  std::size_t parameter = 0;  // position in LayerSpec::parameters
  friend bool operator==(const Use&, const Use&) = default;
};

struct Tie {
  std::string name;       // the owner's
  std::vector<Use> uses;  // in layer order, the owner first
};

// All parameters with more than one use, in the order of their owners.
[[nodiscard]] std::vector<Tie> ties_of(const Network& network);

// Where the layers have the parameter of that full name. `specs` is indexed by layer.
[[nodiscard]] std::optional<Use> find_parameter(const std::vector<LayerSpec>& specs,
                                                std::string_view name);
[[nodiscard]] const TensorSpec& parameter_spec(const std::vector<LayerSpec>& specs, const Use& use);

// The use whose parameter this one is: itself unless it is tied. The owner must exist.
[[nodiscard]] Use owner_of(const std::vector<LayerSpec>& specs, const Use& use);

}  // namespace pipedream::model
