// Made-up data of the right types and shapes, for profiling and tests.
#pragma once

#include "model/network.h"

namespace pipedream::model {

// Random values for one input: real numbers uniform in [0, 1), or integers in [0, input.bound).
// They depend on (`seed`, `input`, `minibatch`) alone.
[[nodiscard]] at::Tensor sample_input(const InputSpec& input, std::uint64_t seed,
                                      std::int64_t minibatch);

}  // namespace pipedream::model
