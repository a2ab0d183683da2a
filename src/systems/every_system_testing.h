// Random schedules of every system in the list. Only *_property_test.cpp files include this.
#pragma once

#include <vector>

#include "schedule/any_schedule_testing.h"
#include "systems/system.h"

namespace pipedream::systems {

// Returns all systems, and for each that knows them its variants with vertical sync and without
// weight stashing.
[[nodiscard]] inline std::vector<schedule::AnySystem> every_system() {
  std::vector<schedule::AnySystem> systems;
  for (const System& system : all_systems()) {
    systems.push_back({system.name, system.traits, system.schedule, system.accepts});
    if (knows(system, Option::kVerticalSync)) {
      schedule::AnySystem synced = systems.back();
      synced.traits.versions = cost::WeightVersions::kVerticalSync;
      synced.traits.replicas = cost::Replicas::kNone;
      systems.push_back(synced);
    }
    if (knows(system, Option::kNoStash)) {
      systems.push_back({system.name, system.traits, system.schedule, system.accepts});
      systems.back().traits.versions = cost::WeightVersions::kUnstashed;
    }
  }
  return systems;
}

}  // namespace pipedream::systems
