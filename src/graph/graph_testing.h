// A small network for tests and fuzz targets.
#pragma once

#include <utility>

#include "graph/graph.h"

namespace pipedream::graph {

// Returns data ─▶ a ─▶ b ─▶ c with a skip connection from a to c. The layers have ids 0, 1, 2, 3;
// data is an input layer. Every value has 1 byte.
[[nodiscard]] inline Graph skipping_graph() {
  Builder builder;
  builder.add_input("data", {{"out", {}, Bytes{1}}});
  for (const char* name : {"a", "b", "c"}) builder.add_layer(name, "", {{"out", {}, Bytes{1}}});
  builder.add_edge("data", "", "a");
  builder.add_edge("a", "", "b");
  builder.add_edge("b", "", "c");
  builder.add_edge("a", "", "c");
  return std::move(builder).build();
}

}  // namespace pipedream::graph
