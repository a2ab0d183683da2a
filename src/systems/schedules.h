// Makes the schedule that trains with a plan.
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
  // The number of microbatches in the last minibatch; nullopt if it has as many as the others.
  std::optional<int> last_microbatches;
  // Only for pipedream: every stage uses the weights that the first stage used for the minibatch
  // (paper §3.3).
  bool vertical_sync = false;
  // Only for pipedream: no weight stashing, so that every op uses the newest weights.
  bool no_stash = false;
};

// Returns the length of a run of `plan` with `options`.
[[nodiscard]] schedule::Extent extent_of(const plan::Plan& plan, const ScheduleOptions& options);

// Returns the schedule of the plan's system. Throws BadUsage for an option that means nothing to
// the system, and CannotMeet for a plan that the system cannot run (why_refused), such as a plan
// with replicas for gpipe.
[[nodiscard]] schedule::Schedule schedule_for(const plan::Plan& plan,
                                              const ScheduleOptions& options);

}  // namespace pipedream::systems
