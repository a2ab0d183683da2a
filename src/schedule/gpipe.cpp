#include "schedule/gpipe.h"

namespace pipedream::schedule {

Schedule gpipe(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits}};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    const auto id = id_at<StageId>(s);
    schedule.rules.in_flight.push_back(extent.microbatches);
    const auto append = [recompute = stage.recompute, id, extent](std::int64_t t,
                                                                  std::vector<Op>& ops) {
      const int items = extent.microbatches_of(t);
      const WeightVersion weights{t};
      for (int m = 0; m < items; ++m) ops.push_back(Forward{id, {t, m}, weights});
      for (int m = 0; m < items; ++m) append_backward(recompute, id, {t, m}, weights, ops);
      ops.push_back(Update{id, weights, {t + 1}, t, t});
    };
    schedule.generators.push_back({stage.workers.at(0), extent.minibatches, append});
  }
  return schedule;
}

}  // namespace pipedream::schedule
