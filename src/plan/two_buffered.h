// PipeDream-2BW's planner: equal pipelines, every depth × width × number of microbatches, with and
// without recomputation; the fastest that fits is kept. The pipelines lie side by side, on equal
// parts of the cluster, or stage by stage on neighbouring workers.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

// `setting.rules` must be those of a system with two weight versions. `setting.recompute` says what
// is tried: kWhereNeeded tries both with and without recomputation. `cuts` must be those of
// Cuts::in_declared_order. Stages are balanced by time. Exact: the whole space is looked at.
[[nodiscard]] Outcome plan_two_buffered(const Cuts& cuts, const cluster::Cluster& cluster,
                                        const Setting& setting);

}  // namespace pipedream::plan
