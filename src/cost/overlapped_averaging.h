// The time of a backward whose gradients are averaged bucket by bucket while it still runs
// (docs/planner.md#the-cost-model).
#pragma once

#include "cost/pipeline.h"
#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Returns the time from the beginning of the forward in `step` until its backward is done and the
// last bucket is averaged. Requires `costs` of a plan with one stage. `volume` scales the bytes of
// each averaging: 1, or 0.5 if gradients are only pushed.
[[nodiscard]] Seconds step_with_averaging(const PipelineCosts& costs, const PipelineStep& step,
                                          double volume = 1);

}  // namespace pipedream::cost
