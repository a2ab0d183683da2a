// A pipeline as a line of steps: its stages, and between two stages the transfers, which run at the
// same time as compute (cost/pipeline.h).
#pragma once

#include "cost/pipeline.h"
#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Step 2·s is stage s. Step 2·s − 1 is the time that one item needs from stage s − 1 to stage s:
// what stage s receives, and nothing else in between.
struct PipelineSteps {
  std::vector<PipelineStep> times;  // time of one item on each step
  std::vector<Seconds> averaging;   // of a stage's gradients, for each step; 0 for transfers
  // The longest transfer of one item to a stage that is not the next one. It runs beside the line.
  Seconds slowest_beside{0};
};

// Returns the steps of the pipeline. Values that a stage receives from an earlier stage than the
// one before it travel while the stages between compute. They take time on the line only if they
// arrive later than what the stage before sends. Gradients likewise.
[[nodiscard]] PipelineSteps pipeline_steps(const PipelineCosts& costs);

// Returns by how much one item takes longer, forth and back, because the values that a stage sends
// to several stages leave at the same time and share its link. Gradients likewise.
[[nodiscard]] Seconds time_of_sharing(const PipelineCosts& costs);

}  // namespace pipedream::cost
