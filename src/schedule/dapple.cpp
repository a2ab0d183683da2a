#include "schedule/dapple.h"

#include "schedule/depths.h"

namespace pipedream::schedule {

Schedule dapple(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits}};
  schedule.rules.in_flight = runnable_depths(plan, traits.replicas);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    const auto id = id_at<StageId>(s);
    const bool averages = stage.workers.size() > 1;
    const auto append = [averages, depth = schedule.rules.in_flight[s], recompute = stage.recompute,
                         id, extent](std::int64_t t, std::vector<Op>& ops) {
      const int items = extent.microbatches_of(t);
      const WeightVersion weights{t};
      for (int m = 0; m < items + depth - 1; ++m) {
        const int back = m - depth + 1;
        if (m < items) ops.push_back(Forward{id, {t, m}, weights});
        if (back >= 0) append_backward(recompute, id, {t, back}, weights, ops);
      }
      if (averages) {
        ops.push_back(Reduce{id, {t + 1}});
        ops.push_back(Await{id, {t + 1}});
      }
      ops.push_back(Update{id, weights, {t + 1}, t, t});
    };
    for (const WorkerId worker : stage.workers)
      schedule.generators.push_back({worker, extent.minibatches, append});
  }
  return schedule;
}

}  // namespace pipedream::schedule
