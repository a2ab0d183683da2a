// Interleaved pipelines: every worker has several balanced stages, dealt out in turn.
#pragma once

#include "plan/planner.h"

namespace pipedream::plan {

inline constexpr int kMostChunks = 4;  // stages per worker that are tried

// The fastest number of stages per worker, from 2 to kMostChunks, on as many workers as there are
// layers for; that of one worker is a single stage. Requires Cuts::in_declared_order.
[[nodiscard]] Outcome plan_interleaved(const Cuts& cuts, const cluster::Cluster& cluster,
                                       const Conditions& conditions);

}  // namespace pipedream::plan
