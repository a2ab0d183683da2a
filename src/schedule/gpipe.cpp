#include "schedule/gpipe.h"

#include "schedule/updates.h"

namespace pipedream::schedule {

Schedule gpipe(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits, .accumulate = plan.accumulate}};
  const Updates updates{extent, plan.accumulate};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    const auto id = id_at<StageId>(s);
    schedule.rules.in_flight.push_back(extent.microbatches);
    const auto append = [recompute = stage.recompute, id, updates](std::int64_t u,
                                                                   std::vector<Op>& ops) {
      const Update update = updates.update(id, u);
      for (std::int64_t t = update.first; t <= update.last; ++t) {
        const int items = updates.extent.microbatches_of(t);
        for (int m = 0; m < items; ++m) ops.push_back(Forward{id, {t, m}, update.from});
        for (int m = 0; m < items; ++m) append_backward(recompute, id, {t, m}, update.from, ops);
      }
      ops.push_back(update);
    };
    schedule.generators.push_back({stage.workers.at(0), updates.count(), append});
  }
  return schedule;
}

}  // namespace pipedream::schedule
