#include "cost/bulk_synchronous_time.h"

#include "cost/overlapped_averaging.h"

namespace pipedream::cost {

Period data_parallel_period(const StageCosts& stage, Seconds cycle, int minibatches) {
  const bool waits = minibatches * stage.compute() * 1.001 < cycle;
  return {cycle / (minibatches * stage.replicas), waits ? Limit::kExchange : Limit::kCompute};
}

Period bulk_synchronous_time(const PipelineCosts& costs) {
  const StageCosts& stage = costs.stages.front();
  // Only the last minibatch of an update averages.
  const Seconds cycle = (costs.accumulate - 1) * stage.compute() +
                        step_with_averaging(costs, {stage.forward, stage.backward});
  return data_parallel_period(stage, cycle, costs.accumulate);
}

}  // namespace pipedream::cost
