#include "systems/unit_case.h"

#include <algorithm>

#include "core/error.h"

namespace pipedream::systems {
namespace {

// Returns the chain 0 ─▶ 1 ─▶ … ─▶ n−1 with one layer per stage. Values have no bytes.
profile::Profile chain(int stages, int backward) {
  graph::Builder builder;
  profile::Profile profile;
  profile.model = std::to_string(stages) + " equal stages";
  for (int s = 0; s < stages; ++s) {
    const LayerId layer = builder.add_layer("stage" + std::to_string(s), "", {{"out", {}, {}}});
    if (s > 0) builder.add_edge(LayerId{s - 1}, 0, layer);
    profile.costs.push_back({.forward = kUnit, .backward = kUnit * backward});
  }
  profile.graph = std::move(builder).build();
  return profile;
}

std::vector<int> depths_of(const UnitWishes& wishes, const cost::Traits& traits) {
  if (!traits.has_depths()) return std::vector<int>(wishes.replicas.size(), wishes.microbatches);
  std::vector<int> depths = cost::chosen_depths(
      traits, wishes.replicas, {wishes.depth, wishes.most_depth, wishes.deeper ? 2 : 1});
  for (int& depth : depths)
    depth = cost::most_in_flight(traits, depth, {wishes.microbatches, wishes.accumulate});
  return depths;
}

void refuse_unknown(const UnitWishes& wishes, const System& system) {
  const cost::Traits& traits = system.traits;
  const auto refuse = [&](const std::string& option) {
    throw BadUsage("`" + option + "` means nothing to " + wishes.system);
  };
  if (wishes.recompute && !traits.cuts_minibatches) refuse("recompute");
  if (wishes.chunks && !traits.several_stages_per_worker) refuse("chunks");
  if (wishes.accumulate > 1 && !knows(system, Option::kAccumulate)) refuse("accumulate");
  if (wishes.deeper && !(traits.flushes && traits.has_depths())) refuse("warm_up");
  if (wishes.depth != cost::Depth::kBest && !traits.has_depths()) refuse("depth");
}

}  // namespace

UnitCase unit_case(const UnitWishes& wishes) {
  const System& system = find_system(wishes.system);
  const cost::Traits& traits = system.traits;
  refuse_unknown(wishes, system);
  UnitCase made;
  made.plan.system = wishes.system;
  made.plan.microbatches = traits.cuts_minibatches ? wishes.microbatches : 1;
  made.plan.accumulate = wishes.accumulate;
  const std::vector<int> depths = depths_of(wishes, traits);
  const int chunks = traits.several_stages_per_worker ? wishes.chunks.value_or(2) : 1;
  int worker = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    worker = 0;
    for (std::size_t s = 0; s < wishes.replicas.size(); ++s) {
      plan::Stage stage{{LayerId{static_cast<std::int32_t>(made.plan.stages.size())}}, {}};
      for (int r = 0; r < wishes.replicas[s]; ++r) stage.workers.push_back({worker++});
      stage.depth = depths[s];
      stage.recompute = wishes.recompute;
      made.plan.stages.push_back(std::move(stage));
    }
  }
  made.profile = chain(static_cast<int>(made.plan.stages.size()), wishes.backward);
  // If replicas share items, each runs a part of an item. The part shall still take whole units.
  if (traits.shares_items()) {
    const int first = wishes.replicas.front();
    for (std::size_t s = 0; s < wishes.replicas.size(); ++s) {
      profile::LayerCost& cost = made.profile.costs[s];
      cost.forward = kUnit * wishes.replicas[s] / first;
      cost.backward = kUnit * wishes.backward * wishes.replicas[s] / first;
    }
  }
  for (profile::LayerCost& cost : made.profile.costs) {
    cost.forward *= made.plan.microbatches;  // so that one microbatch takes a unit
    cost.backward *= made.plan.microbatches;
  }
  made.cluster.name = "a unit cluster";
  made.cluster.levels = {{.name = "room", .count = worker, .bandwidth = {1e9}}};
  made.cluster.devices.resize(static_cast<std::size_t>(worker));
  return made;
}

}  // namespace pipedream::systems
