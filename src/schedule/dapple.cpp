#include "schedule/dapple.h"

#include "schedule/depths.h"
#include "schedule/updates.h"

namespace pipedream::schedule {

Schedule dapple(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits, .accumulate = plan.accumulate}};
  const Updates updates{extent, plan.accumulate};
  schedule.rules.in_flight = runnable_depths(plan, traits.replicas);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    const auto id = id_at<StageId>(s);
    const bool averages = stage.workers.size() > 1;
    const auto append = [averages, depth = schedule.rules.in_flight[s], recompute = stage.recompute,
                         id, updates](std::int64_t u, std::vector<Op>& ops) {
      const int items = updates.items(u);
      const Update update = updates.update(id, u);
      for (int m = 0; m < items + depth - 1; ++m) {
        const int back = m - depth + 1;
        if (m < items) ops.push_back(Forward{id, updates.item(u, m), update.from});
        if (back >= 0) append_backward(recompute, id, updates.item(u, back), update.from, ops);
      }
      if (averages) {
        ops.push_back(Reduce{id, update.to});
        ops.push_back(Await{id, update.to});
      }
      ops.push_back(update);
    };
    for (const WorkerId worker : stage.workers)
      schedule.generators.push_back({worker, updates.count(), append});
  }
  return schedule;
}

}  // namespace pipedream::schedule
