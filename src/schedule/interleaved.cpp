#include "schedule/interleaved.h"

#include <algorithm>

#include "core/check.h"
#include "cost/interleaving.h"
#include "plan/dealing.h"
#include "schedule/updates.h"

namespace pipedream::schedule {

Schedule interleaved(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits, .accumulate = plan.accumulate}};
  const Updates updates{extent, plan.accumulate};
  const std::optional<int> dealt = plan::dealt_out_to(plan);
  PD_CHECK(dealt.has_value());
  const int workers = *dealt;
  const int chunks = static_cast<int>(plan.stages.size()) / workers;
  for (int w = 0; w < workers; ++w) {
    std::vector<bool> recompute;
    for (int chunk = 0; chunk < chunks; ++chunk)
      recompute.push_back(plan.stage({chunk * workers + w}).recompute);
    const auto stage_of = [=](int chunk) { return StageId{chunk * workers + w}; };
    const auto append = [updates, workers, chunks, w, recompute, stage_of](std::int64_t u,
                                                                           std::vector<Op>& ops) {
      const cost::Interleaving order{workers, chunks, updates.items(u)};
      const int all = order.items * chunks;
      const int warm_up = order.warm_up(w);
      const WeightVersion weights{u};
      for (int k = 0; k < all + warm_up - 1; ++k) {
        if (k < all) {
          const auto forth = order.turn(k);
          ops.push_back(Forward{stage_of(forth.chunk), updates.item(u, forth.microbatch), weights});
        }
        if (k < warm_up - 1) continue;
        const auto back = order.turn(k - warm_up + 1);
        const int chunk = chunks - 1 - back.chunk;
        append_backward(recompute[static_cast<std::size_t>(chunk)], stage_of(chunk),
                        updates.item(u, back.microbatch), weights, ops);
      }
      for (int chunk = 0; chunk < chunks; ++chunk)
        ops.push_back(updates.update(stage_of(chunk), u));
    };
    schedule.generators.push_back(
        {plan.stages[static_cast<std::size_t>(w)].workers.at(0), updates.count(), append});
  }
  // A short last update may have a larger first group of microbatches, and then has more items of a
  // stage in flight.
  const int items = extent.microbatches * plan.accumulate;
  schedule.rules.in_flight = cost::Interleaving{workers, chunks, items}.in_flight();
  const int last = updates.items(updates.count() - 1);
  const std::vector<int> at_end = cost::Interleaving{workers, chunks, last}.in_flight();
  for (std::size_t s = 0; s < at_end.size(); ++s)
    schedule.rules.in_flight[s] = std::max(schedule.rules.in_flight[s], at_end[s]);
  return schedule;
}

}  // namespace pipedream::schedule
