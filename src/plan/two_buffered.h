// PipeDream-2BW's planner: equal pipelines, every depth × width × number of microbatches, with and
// without recomputation; the fastest that fits is kept. The pipelines lie side by side, on equal
// parts of the cluster, or stage by stage on neighbouring workers.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

// The conditions' rule must be Rule::kTwoBuffered; their `recompute` says what may be tried
// (kWhereNeeded: both). The cuts are those of Cuts::in_declared_order. Stages are balanced by time.
// Exact: the whole space is looked at.
[[nodiscard]] Outcome plan_two_buffered(const Cuts& cuts, const cluster::Cluster& cluster,
                                        const Conditions& conditions);

}  // namespace pipedream::plan
