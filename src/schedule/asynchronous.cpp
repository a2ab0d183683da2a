#include "schedule/asynchronous.h"

#include "schedule/rounds.h"

namespace pipedream::schedule {

Schedule asynchronous(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits) {
  const auto append = [](const Rounds& rounds, std::int64_t replica, std::int64_t q,
                         std::vector<Op>& ops) {
    if (!rounds.has(q, replica)) return;
    const StageId stage{0};
    const Item item{rounds.minibatch(q, replica), 0};
    ops.push_back(Forward{stage, item, {q}});
    ops.push_back(Backward{stage, item, {q}});
    ops.push_back(Push{stage, item});
    ops.push_back(Pull{stage, {q + 1}});
  };
  return schedule_in_rounds(plan, extent, traits, append);
}

}  // namespace pipedream::schedule
