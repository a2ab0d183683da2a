#include "schedule/bulk_synchronous.h"

#include "schedule/rounds.h"

namespace pipedream::schedule {

Schedule bulk_synchronous(const plan::Plan& plan, const Extent& extent,
                          const cost::Traits& traits) {
  Schedule schedule{{}, {.traits = traits, .in_flight = {1}}};
  const StageId stage{0};
  const auto& workers = plan.stage(stage).workers;
  const Rounds rounds{static_cast<std::int64_t>(workers.size()), extent.minibatches};
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const auto replica = static_cast<std::int64_t>(i);
    const auto append = [=](std::int64_t q, std::vector<Op>& ops) {
      const Item item{rounds.minibatch(q, replica), 0};
      if (rounds.has(q, replica)) {
        ops.push_back(Forward{stage, item, {q}});
        ops.push_back(Backward{stage, item, {q}});
      }
      if (rounds.replicas > 1) {
        ops.push_back(Reduce{stage, {q + 1}});
        ops.push_back(Await{stage, {q + 1}});
      }
      ops.push_back(rounds.update(stage, q));
    };
    schedule.generators.push_back({workers[i], rounds.count(), append});
  }
  return schedule;
}

}  // namespace pipedream::schedule
