// The planner for interleaved pipelines: every worker has several balanced stages (chunks), dealt
// out in turn (docs/planner.md#the-planners).
#pragma once

#include <optional>
#include <vector>

#include "plan/planner.h"

namespace pipedream::plan {

// The most stages per worker that are tried if the user gives no number of stages.
inline constexpr int kMostChunks = 4;

// Returns all plans that fit among those tried. It tries numbers of workers from 2 to all of them,
// with 2 to kMostChunks chunks each, as far as there are layers for the stages. On large clusters
// it tries only some numbers of workers: those up to 16, powers of 2, whole machines, and all
// workers. If `stages` is given, it tries only the pairs of workers and chunks whose product is
// `stages`. If there are too few workers or layers for two chunks each, it tries one stage on one
// worker. Each pair is tried without recomputation and, unless the predictor's setting is
// Recompute::kNever, with it. Requires a predictor with Cuts::in_declared_order.
[[nodiscard]] Candidates plan_interleaved(const Predictor& predictor, std::optional<int> stages);

}  // namespace pipedream::plan
