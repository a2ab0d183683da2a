#include "cost/dapple_time.h"

#include <algorithm>

#include "cost/overlapped_averaging.h"
#include "cost/pipeline_steps.h"

namespace pipedream::cost {
namespace {

int items_of_update(const PipelineCosts& costs) { return costs.items * costs.accumulate; }

Seconds one_stage(const PipelineCosts& costs) {
  const StageCosts& stage = costs.stages.front();
  const double share = stage.item_share;
  return (items_of_update(costs) - 1) * stage.item() +
         step_with_averaging(costs, {stage.forward * share, stage.backward * share});
}

Seconds several_stages(const PipelineCosts& costs) {
  const PipelineSteps steps = pipeline_steps(costs);
  Seconds way{0};
  Seconds loop = 2 * steps.slowest_beside;
  for (std::size_t k = steps.times.size(); k-- > 0;) {
    way += steps.times[k].forward + steps.times[k].backward;
    const bool is_stage = k % 2 == 0;
    const int depth = costs.stages[k / 2].depth;
    // A stage that may have all items in flight never waits for one to come back.
    if (is_stage && depth < items_of_update(costs))
      loop = std::max(loop, loop_limit(way, 1, depth));
  }
  return dapple_latency(steps.times, steps.averaging, items_of_update(costs), loop);
}

}  // namespace

Period dapple_time(const PipelineCosts& costs) {
  const Seconds latency = costs.stages.size() == 1 ? one_stage(costs) : several_stages(costs);
  Period period{latency / (costs.accumulate * costs.stages.front().replicas), Limit::kLatency};
  period.raise(costs.busiest_link, Limit::kLink);
  return period;
}

}  // namespace pipedream::cost
