// PipeDream-2BW's planner: equal pipelines (docs/planner.md#the-planners). It tries every number of
// stages (depth) × number of pipelines (width) × number of microbatches, with and without
// recomputation, and keeps the fastest plan that fits. The pipelines lie side by side on equal
// parts of the cluster, or the replicas of each stage lie on neighbouring workers.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

// Returns the best plan whose stages are balanced by time, and others of different forms
// (plan/kept.h). On at most 64 workers, all such plans
// are tried, so the bound equals the best objective. On more workers, only those widths are tried
// that divide the number of workers, and the largest width, so there is no bound.
// `setting.recompute` says whether plans are tried without recomputation (kNever), with it
// (kAlways) or both (kWhereNeeded). Requires the rules of a system with two weight versions, and
// Cuts::in_declared_order.
[[nodiscard]] Candidates plan_two_buffered(const Cuts& cuts, const cluster::Cluster& cluster,
                                           const Setting& setting);

}  // namespace pipedream::plan
