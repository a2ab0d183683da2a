#include "cost/gpipe_time.h"

#include "cost/pipeline_steps.h"

namespace pipedream::cost {

Period gpipe_time(const PipelineCosts& costs) {
  const PipelineSteps steps = pipeline_steps(costs);
  Period period{
      gpipe_latency(steps.times, costs.items, steps.slowest_beside) + time_of_sharing(costs),
      Limit::kLatency};
  period.raise(costs.busiest_link, Limit::kLink);
  return period;
}

}  // namespace pipedream::cost
