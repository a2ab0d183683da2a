// Lowering: from the order of compute to complete programs. Adds the loads, and for every value
// that crosses stages a Send and a Recv of its activation and of its gradient.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"
#include "schedule/ops.h"

namespace pipedream::schedule {

// All compute ops, loads and transfers get a place in one order: the programs take turns of one op,
// each op as soon as what it takes is made, and a transfer comes right after the op that makes its
// value. Every program returned is a subsequence of that order. So nothing deadlocks even if every
// send blocks until it is received: the first unfinished entry of the order stands at the head of
// all programs it concerns.
// Throws BadValue when the programs wait for each other in a cycle or for an op that no program
// has, when a worker has two programs, or when one runs an op that the plan gives to another.
[[nodiscard]] std::vector<Program> lower(const std::vector<Program>& programs,
                                         const plan::Plan& plan, const graph::Graph& graph);

}  // namespace pipedream::schedule
