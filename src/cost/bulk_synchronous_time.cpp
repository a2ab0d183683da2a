#include "cost/bulk_synchronous_time.h"

#include "cost/overlapped_averaging.h"

namespace pipedream::cost {

Period data_parallel_period(const StageCosts& stage, Seconds cycle) {
  const bool waits = stage.compute() * 1.001 < cycle;
  return {cycle / stage.replicas, waits ? Limit::kExchange : Limit::kCompute};
}

Period bulk_synchronous_time(const PipelineCosts& costs) {
  const StageCosts& stage = costs.stages.front();
  return data_parallel_period(stage, step_with_averaging(costs, {stage.forward, stage.backward}));
}

}  // namespace pipedream::cost
