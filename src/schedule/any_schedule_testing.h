// Random networks, plans and schedules of every system. Only property tests, slow tests and their
// *_testing.h headers include this.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/property_testing.h"
#include "graph/graph.h"
#include "plan/dealing.h"
#include "plan/plan.h"
#include "schedule/schedule_testing.h"

namespace pipedream::schedule {

// A system as far as its schedules go.
struct AnySystem {
  std::string name;
  cost::Traits traits;
  Schedule (*schedule)(const plan::Plan& plan, const Extent& extent, const cost::Traits& traits);
  // Returns why the system cannot run a plan; nullopt if it can. nullptr if the traits say it all.
  std::optional<std::string> (*accepts)(const plan::Plan& plan) = nullptr;
};

// The generators of this module, with the traits that the systems give them.
[[nodiscard]] inline const std::vector<AnySystem>& known_systems() {
  const auto pipedream_with = [](WeightVersions versions, Replicas replicas) {
    cost::Traits traits = cost::kPipedream.traits;
    traits.versions = versions;
    traits.replicas = replicas;
    return traits;
  };
  const auto equal_replicas = [](const plan::Plan& plan) -> std::optional<std::string> {
    for (const plan::Stage& stage : plan.stages)
      if (stage.workers.size() != plan.stages.front().workers.size()) return "differ";
    return std::nullopt;
  };
  static const std::vector<AnySystem> systems{
      {"mp", cost::kModelParallel.traits, model_parallel},
      {"gpipe", cost::kGpipe.traits, gpipe},
      {"dapple", cost::kDapple.traits, dapple},
      {"dp-bsp", cost::kDataParallel.traits, bulk_synchronous},
      {"dp-asp", cost::kAsynchronous.traits, asynchronous},
      {"pipedream", cost::kPipedream.traits, one_f_one_b},
      {"vertical sync", pipedream_with(WeightVersions::kVerticalSync, Replicas::kNone),
       one_f_one_b},
      {"no stash", pipedream_with(WeightVersions::kUnstashed, Replicas::kTakeTurns), one_f_one_b},
      {"2bw", cost::kTwoBuffered.traits, two_buffered, equal_replicas},
      {"interleaved", cost::kInterleaved.traits, interleaved}};
  return systems;
}

// The largest sizes that any_case() draws.
struct Sizes {
  int stages = 8;
  int replicas = 4;
  int microbatches = 64;
  int minibatches = 64;
  int items = 64;  // items of one worker: minibatches × microbatches
  int layers = 11;
  int accumulate = 4;  // rounds of an update
};

// Returns `count` random bits, each set with probability 1/4. Shrinks to 0.
[[nodiscard]] inline std::uint64_t any_few_bits(std::size_t count) {
  const std::uint64_t end = std::uint64_t{1} << count;
  return test::any_of_range<std::uint64_t>(0, end) & test::any_of_range<std::uint64_t>(0, end);
}

// Returns a random graph. Its layers have one or two outputs, and some of them are input layers.
// Any layer may have an edge to any later one; most have one to the next.
[[nodiscard]] inline graph::Graph any_graph(int least_layers, int most_layers) {
  graph::Builder builder;
  std::vector<std::pair<LayerId, std::size_t>> outputs;
  for (int to = test::any_of_range(least_layers, most_layers + 1); to > 0; --to) {
    const int kind = test::any_of_range(0, 15);
    std::vector<graph::Builder::Output> made{{"first", {}, Bytes{1}}};
    if (kind % 5 == 4) made.push_back({"second", {}, Bytes{1}});
    const std::size_t count = made.size();
    const std::string name = "layer" + std::to_string(to);
    const bool is_input = kind / 5 == 2 && to % 2 == 0;
    const LayerId layer = is_input ? builder.add_input(name, std::move(made))
                                   : builder.add_layer(name, "", std::move(made));
    if (!is_input && !outputs.empty()) {
      std::uint64_t edges = any_few_bits(outputs.size());
      if (kind % 4 != 0) edges |= std::uint64_t{1} << (outputs.size() - 1);
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if ((edges >> i & 1U) != 0) builder.add_edge(outputs[i].first, outputs[i].second, layer);
    }
    for (std::size_t k = 0; k < count; ++k) outputs.emplace_back(layer, k);
  }
  return std::move(builder).build();
}

// Sets the depths of 1F1B, deeper ones that hide transfers, or random ones, as plans have them if
// memory limits the depth. No depth exceeds `most`.
inline void set_any_depths(plan::Plan& plan, int most) {
  const int kind = test::any_of_range(0, 4);
  int behind = 0;  // items in flight on the stage after this one, on all its replicas
  for (std::size_t s = plan.stages.size(); s-- > 0;) {
    plan::Stage& stage = plan.stages[s];
    const int replicas = static_cast<int>(stage.workers.size());
    const int slack = behind == 0 ? 1 : std::min(kind, 1) + 1;
    if (kind < 2)
      stage.depth = (behind + replicas - 1) / replicas + slack;
    else
      stage.depth = test::any_of_range(1, most + 1);
    stage.depth = std::min(stage.depth, most);
    behind = stage.depth * replicas;
  }
}

struct Case {
  AnySystem system;
  Pipeline pipeline;
  Extent extent;
  Schedule schedule;
};

// Returns a random number of replicas for each stage, from 1 to `most`, that the system accepts.
[[nodiscard]] inline std::vector<int> any_replicas(const AnySystem& system, int stages, int most) {
  using test::any_of_range;
  if (system.traits.replicas == Replicas::kNone)
    return std::vector<int>(static_cast<std::size_t>(stages), 1);
  std::vector<int> replicas;
  for (int s = 0; s < stages; ++s) replicas.push_back(any_of_range(1, most + 1));
  const bool accepted = system.accepts == nullptr || !system.accepts(plan_of(replicas));
  if (!accepted || any_of_range(0, 4) == 0) replicas.assign(replicas.size(), replicas.front());
  return replicas;
}

// Renumbers the workers 0 … `count` − 1 by a random rotation.
inline void turn_workers(plan::Plan& plan, int count) {
  const int turn = test::any_of_range(0, count);
  for (plan::Stage& stage : plan.stages)
    for (WorkerId& worker : stage.workers) worker.value = (worker.value + turn) % count;
}

[[nodiscard]] inline plan::Plan any_plan(const AnySystem& system, const Sizes& sizes) {
  using test::any_of_range;
  const int stages = system.traits.one_stage ? 1 : any_of_range(1, sizes.stages + 1);
  plan::Plan plan;
  if (system.traits.several_stages_per_worker) {
    const int chunks = any_of_range(1, std::min(4, stages + 1));
    const int workers = stages / chunks;
    for (const auto& of_stage : plan::deal_out(workers * chunks, workers))
      plan.stages.push_back({{}, of_stage});
    return plan;
  }
  plan = plan_of(any_replicas(system, stages, sizes.replicas));
  turn_workers(plan, plan::worker_count(plan));
  return plan;
}

// Puts the graph's layers into stages at random, in order; a stage may get none.
inline void place_any_layers(const graph::Graph& graph, plan::Plan& plan) {
  std::vector<std::size_t> homes;
  for (std::size_t i = 0; i < graph.layers().size(); ++i)
    homes.push_back(test::any_index(plan.stages.size()));
  std::sort(homes.begin(), homes.end());
  for (std::size_t i = 0; i < homes.size(); ++i) {
    const LayerId layer = graph.order()[i];
    if (!graph.layer(layer).is_input) plan.stages[homes[i]].layers.push_back(layer);
  }
}

// Returns a random schedule of one of `systems`, for a plan that its generator accepts.
[[nodiscard]] inline Case any_case(const Sizes& sizes,
                                   const std::vector<AnySystem>& systems = known_systems()) {
  using test::any_of_range;
  Case any;
  any.system = systems[test::any_index(systems.size())];
  const cost::Traits& traits = any.system.traits;
  plan::Plan& plan = any.pipeline.plan;
  plan = any_plan(any.system, sizes);

  const int most = any_of_range(0, 2) == 0 ? std::min(6, sizes.microbatches) : sizes.microbatches;
  any.extent.microbatches = traits.cuts_minibatches ? any_of_range(1, most + 1) : 1;
  any.extent.last = any_of_range(1, any.extent.microbatches + 1);
  any.extent.minibatches = any_of_range(
      1, std::min(sizes.minibatches, std::max(1, sizes.items / any.extent.microbatches)) + 1);
  plan.microbatches = any.extent.microbatches;
  if (!traits.asynchronous && any_of_range(0, 2) == 1)
    plan.accumulate = any_of_range(1, sizes.accumulate + 1);
  constexpr int kDeepest = 16;
  set_any_depths(plan,
                 traits.versions == WeightVersions::kTwo
                     ? cost::most_in_flight(traits, kDeepest, {plan.microbatches, plan.accumulate})
                     : kDeepest);
  if (traits.recomputes) {
    const std::uint64_t recompute = any_few_bits(plan.stages.size());
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
      plan.stages[s].recompute = (recompute >> s & 1U) != 0;
  }

  const int stages = static_cast<int>(plan.stages.size());
  const int least = any_of_range(0, 4) == 0 ? 1 : std::min(stages + 1, sizes.layers);
  any.pipeline.graph = any_graph(least, sizes.layers);
  place_any_layers(any.pipeline.graph, plan);
  any.schedule = any.system.schedule(plan, any.extent, traits);
  return any;
}

}  // namespace pipedream::schedule
