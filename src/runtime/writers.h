// Which replica of a stage writes which tensors into a checkpoint.
#pragma once

#include <vector>

#include "model/layer.h"

namespace pipedream::runtime {

// Returns, for each of a stage's parameters, the replica that writes it and its optimiser state. A
// tensor is written whole, by one replica, and the replicas get about the same number of bytes. All
// replicas compute the same from tensors of the same sizes.
[[nodiscard]] std::vector<std::size_t> writers_of(const model::Tensors& parameters,
                                                  std::size_t replicas);

}  // namespace pipedream::runtime
