// Joins the layers of an imported model, and its loss, to a network.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "imported/network.h"

namespace pipedream::imported {

// The members of a Model that assemble() reads, during the call only.
struct Parts {
  const std::string& name;
  std::shared_ptr<const pt2::Archive> archive;
  const SafeProgram& safe;
  const std::vector<bool>& is_trained;
  const std::vector<LayerCalls>& layers;
  const std::map<std::string, std::string>& second_names;
  Kernels kernels = Kernels::kFastest;
};

// The network for minibatches of `batch` samples. Throws CannotMeet if the model's output does not
// fit the loss.
[[nodiscard]] model::Network assemble(const Parts& parts, Loss loss, std::int64_t batch);

}  // namespace pipedream::imported
