#include "systems/unit_case.h"

#include <algorithm>

#include "core/error.h"

namespace pipedream::systems {
namespace {

using cost::Rule;

// data ─▶ 0 ─▶ 1 ─▶ … ─▶ n−1, a layer a stage; no value has any bytes.
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

std::vector<int> depths_of(const UnitWishes& wishes, Rule rule) {
  std::vector<int> replicas = wishes.replicas;
  if (cost::replicas_split_items(rule)) replicas.assign(replicas.size(), 1);
  if (!cost::has_depths(rule)) return std::vector<int>(replicas.size(), wishes.microbatches);
  if (wishes.depth == plan::Depth::kNoam) return cost::noam_depths(replicas);
  if (wishes.depth == plan::Depth::kUpTo) return cost::depths_up_to(replicas, wishes.most_depth);
  return cost::pipeline_depths(replicas, wishes.deeper ? 2 : 1);
}

}  // namespace

UnitCase unit_case(const UnitWishes& wishes) {
  const Rule rule = find_system(wishes.system).rule;
  if (wishes.recompute && !cost::cuts_minibatches(rule))
    throw BadUsage("--recompute means nothing to " + wishes.system);
  if (wishes.chunks && rule != Rule::kInterleaved) throw BadUsage("--chunks is for interleaved");
  if (wishes.deeper && rule != Rule::kDapple) throw BadUsage("--warm-up is for dapple");
  if (wishes.depth != plan::Depth::kBest && !cost::has_depths(rule))
    throw BadUsage("--depth means nothing to " + wishes.system);
  UnitCase made;
  made.plan.system = wishes.system;
  made.plan.microbatches = cost::cuts_minibatches(rule) ? wishes.microbatches : 1;
  const std::vector<int> depths = depths_of(wishes, rule);
  const bool dealt_out = rule == Rule::kInterleaved;
  const int chunks = dealt_out ? wishes.chunks.value_or(2) : 1;
  int worker = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (dealt_out) worker = 0;
    for (std::size_t s = 0; s < wishes.replicas.size(); ++s) {
      plan::Stage stage{{LayerId{static_cast<std::int32_t>(made.plan.stages.size())}}, {}};
      for (int r = 0; r < wishes.replicas[s]; ++r) stage.workers.push_back({worker++});
      stage.depth = depths[s];
      stage.recompute = wishes.recompute;
      made.plan.stages.push_back(std::move(stage));
    }
  }
  if (rule == Rule::kTwoBuffered)
    for (plan::Stage& stage : made.plan.stages)
      stage.depth = std::min(stage.depth, made.plan.microbatches + 1);
  made.profile = chain(static_cast<int>(made.plan.stages.size()), wishes.backward);
  // Where replicas share an item each takes a part of it: show whole units all the same.
  if (cost::replicas_split_items(rule)) {
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
