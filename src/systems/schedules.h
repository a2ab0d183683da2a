// From a plan to the schedule that trains with it.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/plan.h"
#include "schedule/schedule.h"
#include "systems/system.h"

namespace pipedream::systems {

// What a schedule depends on besides the plan.
struct ScheduleOptions {
  std::int64_t minibatches = 1;
  // The microbatches of the last minibatch, if it is short and so has fewer than the others.
  std::optional<int> last_microbatches;
  // Every stage uses the weights that the first stage used for the minibatch (paper §3.3).
  bool vertical_sync = false;
  // No weight stashing: every op uses the newest weights.
  bool no_stash = false;
};

[[nodiscard]] schedule::Extent extent_of(const plan::Plan& plan, const ScheduleOptions& options);

// The schedule of the plan's system. Throws BadUsage for an option that means nothing to the
// system, and CannotMeet for a plan that the system cannot run, such as one with replicas where it
// knows none.
[[nodiscard]] schedule::Schedule schedule_for(const plan::Plan& plan,
                                              const ScheduleOptions& options);

}  // namespace pipedream::systems
