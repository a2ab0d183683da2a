#include "cost/pipeline_steps.h"

namespace pipedream::cost {

PipelineSteps pipeline_steps(const PipelineCosts& costs) {
  PipelineSteps steps;
  for (std::size_t s = 0; s < costs.stages.size(); ++s) {
    if (s > 0) {
      Seconds arriving{0};
      for (const TransferCosts& transfer : costs.transfers)
        if (transfer.to == s) arriving += transfer.item;
      steps.times.push_back({arriving, arriving});
      steps.averaging.emplace_back(0);
    }
    const StageCosts& stage = costs.stages[s];
    steps.times.push_back({stage.forward * stage.item_share, stage.backward * stage.item_share});
    steps.averaging.push_back(stage.averaging);
  }
  return steps;
}

}  // namespace pipedream::cost
