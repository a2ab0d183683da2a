// Divides the calls of a program into layers: the units that profiler and planner see.
#pragma once

#include <string>
#include <vector>

#include "imported/functional.h"

namespace pipedream::imported {

// The calls of one layer.
struct LayerCalls {
  std::string name;  // unique: the path of the module, with an operator where it has several layers
  std::string kind;  // for people: "Conv2d [64, 3, 3, 3]"
  std::vector<std::size_t> calls;  // numbers in Program::calls, ascending
};

// Divides the calls, in their order:
//  1. A layer has the calls of one module. The code of a module between its submodules is divided
//     before heavy operators, where at most one tensor goes from one part to the next.
//  2. Calls that only look at a tensor in another shape go with the call before.
//  3. Cheap calls that compute something from the data alone, without weights (masks, positions),
//     are repeated in every layer that uses the result. So it need not be sent from stage to stage.
//  4. Calls of SafeProgram::together are in one layer.
// `is_trained` says for each tensor of the program whether it is a weight that is trained.
[[nodiscard]] std::vector<LayerCalls> group_calls(const SafeProgram& safe,
                                                  const std::vector<bool>& is_trained);

}  // namespace pipedream::imported
