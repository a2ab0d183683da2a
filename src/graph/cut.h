// What crosses when a graph is cut: the exact values, and their bytes.
// Values of input layers never cross: every stage reads the data set itself (graph/graph.h).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace pipedream::graph {

// The values produced by a layer with before[layer] and used by one without, ascending; each once,
// however many consumers it has.
[[nodiscard]] std::vector<ValueId> values_crossing(const Graph& graph,
                                                   const std::vector<bool>& before);

// Entry p: the bytes that cross when the first p layers of graph.order() come before the cut;
// entries 0 and N are zero. Linear in the size of the graph.
[[nodiscard]] std::vector<Bytes> bytes_crossing_each_prefix(const Graph& graph);

// One value that one stage must send to another.
struct Transfer {
  ValueId value;
  StageId from;
  StageId to;
  bool is_weight = false;  // Value::is_weight
  friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

// All of them for an assignment of layers to stages, ascending by value, then by receiving stage.
// A value goes directly from its producer to each consuming stage, once, however many layers there
// use it. stage_of has one entry per layer; input layers' entries do not matter.
[[nodiscard]] std::vector<Transfer> transfers_between(const Graph& graph,
                                                      const std::vector<StageId>& stage_of);

}  // namespace pipedream::graph
