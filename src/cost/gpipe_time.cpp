#include "cost/gpipe_time.h"

#include "cost/pipeline_steps.h"

namespace pipedream::cost {

Period gpipe_time(const PipelineCosts& costs) {
  Period period{gpipe_latency(pipeline_steps(costs).times, costs.items), Limit::kLatency};
  period.raise(costs.busiest_link, Limit::kLink);
  return period;
}

}  // namespace pipedream::cost
