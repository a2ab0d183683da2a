// A pipeline as a line of steps: its stages, and between two stages the transfers, which run at the
// same time as compute (cost/pipeline.h).
#pragma once

#include "cost/pipeline.h"
#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Step 2·s is stage s. Step 2·s − 1 is the transfer of all that stage s receives.
struct PipelineSteps {
  std::vector<PipelineStep> times;  // time of one item on each step
  std::vector<Seconds> averaging;   // of a stage's gradients, for each step; 0 for transfers
};

// Returns the steps of the pipeline. If a stage receives from several stages, these transfers come
// one after the other, because they share the stage's link.
[[nodiscard]] PipelineSteps pipeline_steps(const PipelineCosts& costs);

}  // namespace pipedream::cost
