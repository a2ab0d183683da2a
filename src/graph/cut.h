// Which values cross a cut of a graph, and how many bytes they have. Values of input layers never
// cross, because every stage that uses them reads the data set itself (graph/graph.h).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace pipedream::graph {

// Returns the values that cross the cut, ascending. `before[l]` says whether layer l is before the
// cut; a value crosses if its producer is before the cut and at least one of its consumers is not.
// Requires one entry of `before` per layer.
[[nodiscard]] std::vector<ValueId> values_crossing(const Graph& graph,
                                                   const std::vector<bool>& before);

// Returns N + 1 entries for a graph of N layers. Entry p has the bytes that cross if the first p
// layers of graph.order() are before the cut, so entries 0 and N are zero. Takes time linear in the
// size of the graph.
[[nodiscard]] std::vector<Bytes> bytes_crossing_each_prefix(const Graph& graph);

// One value that stage `from` must send to stage `to`.
struct Transfer {
  ValueId value;
  StageId from;
  StageId to;
  bool is_weight = false;  // as Value::is_weight
  friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

// Returns all transfers between the stages, ascending by value, then by receiving stage. `stage_of`
// has the stage of each layer; the entries of input layers do not matter. A value goes directly
// from its producer's stage to every other stage that uses it, once for all layers of that stage.
[[nodiscard]] std::vector<Transfer> transfers_between(const Graph& graph,
                                                      const std::vector<StageId>& stage_of);

}  // namespace pipedream::graph
