// PipeDream's own profile format, as its published profiler writes it (docs/formats.md#graph-text):
//   node2 -- Conv2d(3, 64) -- forward_compute_time=22.3, …, parameter_size=7168.0[ -- stage_id=0]
//   <TAB>node1 -- node2
#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace pipedream::profile {

// Parses graph text; `file` is used in messages, and its name gives the model's name. Throws
// BadFile with the file and the line. Each node becomes a layer whose name is the node's id; layers
// are sorted by the number at the end of the id. A node whose description begins with "Input"
// becomes an input layer, and its time is added to `Profile::input`. The format does not say what
// layers keep for their backward (profile.h). But a layer that works in place ("ReLU(inplace)")
// writes over its input, so the layer that produced this input does not keep it.
[[nodiscard]] Profile parse_graph_text(std::string_view content, const std::string& file);

}  // namespace pipedream::profile
