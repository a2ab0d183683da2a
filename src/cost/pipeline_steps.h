// A pipeline as a line of machines: its stages and, between two stages, the transfers, which run
// beside compute.
#pragma once

#include "cost/pipeline.h"
#include "cost/pipeline_costs.h"

namespace pipedream::cost {

// Stage s is step 2·s; step 2·s − 1 is what stage s receives.
struct PipelineSteps {
  std::vector<PipelineStep> times;  // of one item
  std::vector<Seconds> averaging;   // of the stage's gradients; 0 for transfers
};

// The values that a stage receives come one after the other: they share its link.
[[nodiscard]] PipelineSteps pipeline_steps(const PipelineCosts& costs);

}  // namespace pipedream::cost
