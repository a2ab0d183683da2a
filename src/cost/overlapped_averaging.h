// A backward whose gradients leave bucket by bucket while it still runs.
#pragma once

#include "cost/pipeline.h"
#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// One forward and backward of a plan of one stage, until the last bucket is averaged. `volume` is
// the part of an averaging that follows each bucket: 1, or 0.5 where gradients are only pushed.
[[nodiscard]] Seconds step_with_averaging(const PipelineCosts& costs, const PipelineStep& step,
                                          double volume = 1);

}  // namespace pipedream::cost
