// PipeDream's own profile format, as its published profiler writes it (docs/formats.md#graph-text):
//   node2 -- Conv2d(3, 64) -- forward_compute_time=22.3, …, parameter_size=7168.0[ -- stage_id=0]
//   <TAB>node1 -- node2
#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace pipedream::profile {

// Throws BadFile with file and line. Layers keep their ids as names and their numbers' order.
// Nodes whose description begins with "Input" become input layers; their time goes to
// Profile::input. What layers keep is not known (profile.h), except that a layer said to work in
// place ("ReLU(inplace)") takes over its input's memory.
[[nodiscard]] Profile parse_graph_text(std::string_view content, const std::string& file);

}  // namespace pipedream::profile
