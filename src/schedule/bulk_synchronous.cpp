#include "schedule/bulk_synchronous.h"

#include "schedule/rounds.h"

namespace pipedream::schedule {

Schedule bulk_synchronous(const plan::Plan& plan, const Extent& extent,
                          const cost::Traits& traits) {
  const auto append = [](const Rounds& rounds, std::int64_t replica, std::int64_t q,
                         std::vector<Op>& ops) {
    const StageId stage{0};
    const std::int64_t u = rounds.update_of(q);
    if (rounds.has(q, replica)) {
      const Item item{rounds.minibatch(q, replica), 0};
      ops.push_back(Forward{stage, item, {u}});
      ops.push_back(Backward{stage, item, {u}});
    }
    if (!rounds.ends_update(q)) return;
    if (rounds.replicas > 1) {
      ops.push_back(Reduce{stage, {u + 1}});
      ops.push_back(Await{stage, {u + 1}});
    }
    ops.push_back(rounds.update(stage, u));
  };
  return schedule_in_rounds(plan, extent, traits, append);
}

}  // namespace pipedream::schedule
