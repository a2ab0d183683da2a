#include "cost/asynchronous_time.h"

#include "cost/bulk_synchronous_time.h"
#include "cost/overlapped_averaging.h"

namespace pipedream::cost {

Period asynchronous_time(const PipelineCosts& costs) {
  const StageCosts& stage = costs.stages.front();
  const Seconds push = step_with_averaging(costs, {stage.forward, stage.backward}, 0.5);
  Period period = data_parallel_period(stage, push + stage.averaging / 2);
  period.raise(costs.busiest_link, Limit::kLink);
  return period;
}

}  // namespace pipedream::cost
