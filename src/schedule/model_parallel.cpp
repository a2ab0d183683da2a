#include "schedule/model_parallel.h"

namespace pipedream::schedule {

Schedule model_parallel(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits}};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto stage = id_at<StageId>(s);
    schedule.rules.in_flight.push_back(1);
    const auto append = [stage](std::int64_t t, std::vector<Op>& ops) {
      const WeightVersion weights{t};
      ops.push_back(Forward{stage, {t, 0}, weights});
      ops.push_back(Backward{stage, {t, 0}, weights});
      ops.push_back(Update{stage, weights, {t + 1}, t, t});
    };
    schedule.generators.push_back({plan.stages[s].workers.at(0), extent.minibatches, append});
  }
  return schedule;
}

}  // namespace pipedream::schedule
