#include "schedule/model_parallel.h"

#include "schedule/updates.h"

namespace pipedream::schedule {

Schedule model_parallel(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits, .accumulate = plan.accumulate}};
  const Updates updates{extent, plan.accumulate};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto stage = id_at<StageId>(s);
    schedule.rules.in_flight.push_back(1);
    const auto append = [stage, updates](std::int64_t u, std::vector<Op>& ops) {
      const Update update = updates.update(stage, u);
      for (std::int64_t t = update.first; t <= update.last; ++t) {
        ops.push_back(Forward{stage, {t, 0}, update.from});
        ops.push_back(Backward{stage, {t, 0}, update.from});
      }
      ops.push_back(update);
    };
    schedule.generators.push_back({plan.stages[s].workers.at(0), updates.count(), append});
  }
  return schedule;
}

}  // namespace pipedream::schedule
