// From a plan to the schedule that trains with it.
#pragma once

#include "plan/plan.h"
#include "schedule/schedule.h"
#include "systems/systems.h"

namespace pipedream::systems {

// What a schedule depends on besides the plan.
struct Training {
  std::int64_t minibatches = 1;
  std::optional<int> last_microbatches;  // of a short last minibatch
  bool vertical_sync = false;
  bool no_stash = false;
};

// The schedule of the plan's system. Throws BadUsage for a wish that means nothing to it, and
// CannotMeet for a plan that it cannot run, such as replicas where it knows none.
[[nodiscard]] schedule::Schedule schedule_for(const plan::Plan& plan, const Training& training);

}  // namespace pipedream::systems
