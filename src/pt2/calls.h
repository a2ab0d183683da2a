// Questions about a call of an exported program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pt2/program.h"

namespace pipedream::pt2 {

// Returns the argument called `name`; null if the call does not give it.
[[nodiscard]] const Argument* argument_of(const Call& call, std::string_view name);

// Returns the tensors that an argument names; none for other arguments.
[[nodiscard]] std::vector<TensorId> tensors_in(const Argument& argument);
// Returns the tensors that a call reads, in the order of its arguments.
[[nodiscard]] std::vector<TensorId> reads_of(const Call& call);
// Returns the tensors that a call makes, in the order of its results.
[[nodiscard]] std::vector<TensorId> makes_of(const Call& call);

// Returns the path of the module that makes the call, for messages: "layers.0", or "the model
// itself".
[[nodiscard]] std::string module_text(const Call& call);

}  // namespace pipedream::pt2
