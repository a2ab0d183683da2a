#include "systems/schedules.h"

#include "core/error.h"

namespace pipedream::systems {
namespace {

[[noreturn]] void refuse(const plan::Plan& plan, const std::string& why) {
  throw CannotMeet("a plan " + plan::config_text(plan) + " for " + plan.system + ": " + why);
}

// Throws BadUsage if `option` is given and means nothing to the system.
void want_known(const System& system, Option option, bool is_given) {
  if (!is_given || knows(system, option)) return;
  const std::string known_to = who_knows(option);
  throw BadUsage(quoted(option) + " is for " + known_to + "; this plan is for " + system.name +
                 ", which has its own weight rule (choose `system` " + known_to + ")");
}

// Returns the system's traits, with the weight versions that the options ask for.
cost::Traits traits_with(const System& system, const plan::Plan& plan,
                         const ScheduleOptions& options) {
  want_known(system, Option::kVerticalSync, options.vertical_sync);
  want_known(system, Option::kNoStash, options.no_stash);
  if (options.vertical_sync && options.no_stash)
    throw BadUsage("`vertical_sync` keeps weights that `no_stash` throws away: choose one");
  if (options.vertical_sync && plan::has_replicas(plan))
    refuse(plan, "`vertical_sync` works without replicas only (plan with `straight`)");
  cost::Traits traits = system.traits;
  if (options.vertical_sync) traits.versions = cost::WeightVersions::kVerticalSync;
  if (options.no_stash) traits.versions = cost::WeightVersions::kUnstashed;
  return traits;
}

}  // namespace

schedule::Extent extent_of(const plan::Plan& plan, const ScheduleOptions& options) {
  schedule::Extent extent = schedule::whole_minibatches(plan, options.minibatches);
  if (options.last_microbatches) extent.last = *options.last_microbatches;
  return extent;
}

schedule::Schedule schedule_for(const plan::Plan& plan, const ScheduleOptions& options) {
  const System& system = find_system(plan.system);
  const cost::Traits traits = traits_with(system, plan, options);
  if (const auto why = why_refused(system, plan)) refuse(plan, *why);
  return system.schedule(plan, extent_of(plan, options), traits);
}

}  // namespace pipedream::systems
