#include "cost/two_buffered_time.h"

#include "cost/one_f_one_b_time.h"

namespace pipedream::cost {

Period two_buffered_time(const PipelineCosts& costs) {
  Period period;
  raise_to_busiest(costs, period);
  for (std::size_t s = 0; s < costs.stages.size(); ++s) {
    const StageCosts& stage = costs.stages[s];
    if (stage.replicas == 1) continue;
    const Seconds item = stage.compute() / static_cast<double>(costs.items);
    period.raise((stage.averaging + (stage.depth - 1) * item) / (costs.accumulate * stage.replicas),
                 Limit::kExchange, s);
  }
  raise_to_loops(costs, period);
  return period;
}

}  // namespace pipedream::cost
