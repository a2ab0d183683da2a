// Random networks, plans and schedules of every system. Only *_property_test.cpp and
// *_slow_test.cpp files include this.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/property_testing.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "schedule/asynchronous.h"
#include "schedule/bulk_synchronous.h"
#include "schedule/dapple.h"
#include "schedule/gpipe.h"
#include "schedule/interleaved.h"
#include "schedule/lower.h"
#include "schedule/model_parallel.h"
#include "schedule/one_f_one_b.h"
#include "schedule/schedule_testing.h"
#include "schedule/two_buffered.h"

namespace pipedream::schedule {

enum class System {
  kModelParallel,
  kGpipe,
  kDapple,
  kBulkSynchronous,
  kAsynchronous,
  kPipedream,
  kVerticalSync,
  kNoStash,
  kTwoBuffered,
  kInterleaved,
};
inline constexpr int kSystems = 10;

// The largest sizes that any_case() draws.
struct Sizes {
  int stages = 8;
  int replicas = 4;
  int microbatches = 64;
  int minibatches = 64;
  int items = 64;  // items of one worker: minibatches × microbatches
  int layers = 11;
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

// Sets the depths of 1F1B, or deeper ones that hide transfers, or random depths, as plans have them
// where memory limits the depth.
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
  System system = System::kModelParallel;
  Pipeline pipeline;
  Extent extent;
  Schedule schedule;
};

[[nodiscard]] inline Schedule schedule_of(System system, const plan::Plan& plan,
                                          const Extent& extent) {
  switch (system) {
    case System::kModelParallel:
      return model_parallel(plan, extent);
    case System::kGpipe:
      return gpipe(plan, extent);
    case System::kDapple:
      return dapple(plan, extent);
    case System::kBulkSynchronous:
      return bulk_synchronous(plan, extent);
    case System::kAsynchronous:
      return asynchronous(plan, extent);
    case System::kPipedream:
      return one_f_one_b(plan, extent);
    case System::kVerticalSync:
      return one_f_one_b(plan, extent, WeightVersions::kVerticalSync);
    case System::kNoStash:
      return one_f_one_b(plan, extent, WeightVersions::kUnstashed);
    case System::kTwoBuffered:
      return two_buffered(plan, extent);
    case System::kInterleaved:
      return interleaved(plan, extent);
  }
  return {};
}

// Returns a random system, network, plan and extent that fulfil the requirements of the system's
// generator, and the schedule.
[[nodiscard]] inline Case any_case(const Sizes& sizes) {
  using test::any_of_range;
  Case any;
  any.system = static_cast<System>(any_of_range(0, kSystems));
  const auto is = [&](auto... systems) { return ((any.system == systems) || ...); };
  plan::Plan& plan = any.pipeline.plan;

  const bool one_stage = is(System::kBulkSynchronous, System::kAsynchronous);
  const bool cut = is(System::kGpipe, System::kDapple, System::kTwoBuffered, System::kInterleaved);
  const bool replicated =
      one_stage || is(System::kDapple, System::kPipedream, System::kNoStash, System::kTwoBuffered);
  int stages = one_stage ? 1 : any_of_range(1, sizes.stages + 1);
  int workers = stages;  // used for kInterleaved only
  if (is(System::kInterleaved)) {
    const int chunks = any_of_range(1, std::min(4, stages + 1));
    workers = stages / chunks;
    stages = workers * chunks;
  }
  const int alike = any_of_range(1, sizes.replicas + 1);
  int count = 0;
  for (int s = 0; s < stages; ++s) {
    plan::Stage stage;
    const int replicas = !replicated ? 1
                         : one_stage || is(System::kTwoBuffered)
                             ? alike
                             : any_of_range(1, sizes.replicas + 1);
    for (int i = 0; i < replicas; ++i)
      stage.workers.push_back(WorkerId{is(System::kInterleaved) ? s % workers : count++});
    plan.stages.push_back(std::move(stage));
  }
  if (count > 0) {  // renumbers the workers cyclically
    const int turn = any_of_range(0, count);
    for (plan::Stage& stage : plan.stages)
      for (WorkerId& worker : stage.workers) worker.value = (worker.value + turn) % count;
  }

  const int most = any_of_range(0, 2) == 0 ? std::min(6, sizes.microbatches) : sizes.microbatches;
  any.extent.microbatches = cut ? any_of_range(1, most + 1) : 1;
  any.extent.last = any_of_range(1, any.extent.microbatches + 1);
  any.extent.minibatches = any_of_range(
      1, std::min(sizes.minibatches, std::max(1, sizes.items / any.extent.microbatches)) + 1);
  plan.microbatches = any.extent.microbatches;
  set_any_depths(plan, is(System::kTwoBuffered) ? any.extent.microbatches + 1 : 16);
  if (cut || is(System::kPipedream, System::kVerticalSync, System::kNoStash)) {
    const std::uint64_t recompute = any_few_bits(plan.stages.size());
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
      plan.stages[s].recompute = (recompute >> s & 1U) != 0;
  }

  const int least = any_of_range(0, 4) == 0 ? 1 : std::min(stages + 1, sizes.layers);
  any.pipeline.graph = any_graph(least, sizes.layers);
  std::vector<std::size_t> homes;
  for (std::size_t i = 0; i < any.pipeline.graph.layers().size(); ++i)
    homes.push_back(test::any_index(plan.stages.size()));
  std::sort(homes.begin(), homes.end());
  for (std::size_t i = 0; i < homes.size(); ++i) {
    const LayerId layer = any.pipeline.graph.order()[i];
    if (!any.pipeline.graph.layer(layer).is_input) plan.stages[homes[i]].layers.push_back(layer);
  }
  any.schedule = schedule_of(any.system, plan, any.extent);
  return any;
}

}  // namespace pipedream::schedule
