// Small networks with their plans, and text forms, for tests about schedules. Only tests and their
// *_testing.h headers include this.
#pragma once

#include <string>
#include <vector>

#include "cost/system_rules_testing.h"
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
#include "schedule/ops.h"
#include "schedule/two_buffered.h"

namespace pipedream::schedule {

// The generators, called with the traits of their own systems.
using Generate = Schedule (*)(const plan::Plan& plan, const Extent& extent);
[[nodiscard]] inline Schedule model_parallel(const plan::Plan& plan, const Extent& extent) {
  return model_parallel(plan, extent, cost::kModelParallel.traits);
}
[[nodiscard]] inline Schedule bulk_synchronous(const plan::Plan& plan, const Extent& extent) {
  return bulk_synchronous(plan, extent, cost::kDataParallel.traits);
}
[[nodiscard]] inline Schedule asynchronous(const plan::Plan& plan, const Extent& extent) {
  return asynchronous(plan, extent, cost::kAsynchronous.traits);
}
[[nodiscard]] inline Schedule gpipe(const plan::Plan& plan, const Extent& extent) {
  return gpipe(plan, extent, cost::kGpipe.traits);
}
[[nodiscard]] inline Schedule dapple(const plan::Plan& plan, const Extent& extent) {
  return dapple(plan, extent, cost::kDapple.traits);
}
[[nodiscard]] inline Schedule two_buffered(const plan::Plan& plan, const Extent& extent) {
  return two_buffered(plan, extent, cost::kTwoBuffered.traits);
}
[[nodiscard]] inline Schedule interleaved(const plan::Plan& plan, const Extent& extent) {
  return interleaved(plan, extent, cost::kInterleaved.traits);
}
[[nodiscard]] inline Schedule one_f_one_b(const plan::Plan& plan, const Extent& extent,
                                          WeightVersions versions = WeightVersions::kStashed) {
  cost::Traits traits = cost::kPipedream.traits;
  traits.versions = versions;
  return one_f_one_b(plan, extent, traits);
}

struct Pipeline {
  graph::Graph graph;
  plan::Plan plan;
};

// Returns a pipeline with one layer per stage, stage s on worker s, with the depths of 1F1B. Value
// s goes from stage s to stage s + 1:
//
//   data ─▶ l0 ─0─▶ l1 ─1─▶ … ─▶ l(n−1) ◀─ labels
[[nodiscard]] inline Pipeline straight_pipeline(int stages, Bytes value = Bytes{1}) {
  graph::Builder builder;
  plan::Plan plan;
  for (int s = 0; s < stages; ++s) {
    const LayerId layer = builder.add_layer("l" + std::to_string(s), "", {{"out", {}, value}});
    plan.stages.push_back({{layer}, {WorkerId{s}}, stages - s});
    if (s > 0) builder.add_edge(LayerId{s - 1}, 0, layer);
  }
  const LayerId data = builder.add_input("data", {{"out", {}, Bytes{1}}});
  const LayerId labels = builder.add_input("labels", {{"out", {}, Bytes{1}}});
  builder.add_edge(data, 0, LayerId{0});
  builder.add_edge(labels, 0, LayerId{stages - 1});
  return {std::move(builder).build(), plan};
}

[[nodiscard]] inline std::vector<Program> lower(const Schedule& schedule,
                                                const Pipeline& pipeline) {
  return lower(schedule, pipeline.plan, pipeline.graph);
}

// Returns 1F1B over whole minibatches.
[[nodiscard]] inline Schedule one_f_one_b(const Pipeline& pipeline, std::int64_t minibatches) {
  return one_f_one_b(pipeline.plan, whole_minibatches(pipeline.plan, minibatches));
}

// Returns a chain of layers, one per stage of `plan`, that reads no data. Value s goes from stage s
// to stage s + 1.
[[nodiscard]] inline Pipeline chain(plan::Plan plan) {
  graph::Builder builder;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const LayerId layer = builder.add_layer("l" + std::to_string(s), "", {{"out", {}, Bytes{1}}});
    plan.stages[s].layers = {layer};
    if (s > 0) builder.add_edge(id_at<LayerId>(s - 1), 0, layer);
  }
  return {std::move(builder).build(), std::move(plan)};
}

// Returns a plan without layers, for generators, which do not look at layers. Stage s has
// `replicas[s]` replicas. Workers are numbered in the order of stages.
[[nodiscard]] inline plan::Plan plan_of(const std::vector<int>& replicas,
                                        const std::vector<int>& depths = {}) {
  plan::Plan plan;
  int next = 0;
  for (std::size_t s = 0; s < replicas.size(); ++s) {
    plan::Stage stage;
    for (int i = 0; i < replicas[s]; ++i) stage.workers.push_back(WorkerId{next++});
    if (!depths.empty()) stage.depth = depths[s];
    plan.stages.push_back(std::move(stage));
  }
  return plan;
}

// Returns the depths of 1F1B for n stages of one worker each: n, n − 1, …, 1.
[[nodiscard]] inline std::vector<int> straight_depths(int stages) {
  std::vector<int> depths;
  for (int s = 0; s < stages; ++s) depths.push_back(stages - s);
  return depths;
}

// Returns the text of each program.
[[nodiscard]] inline std::vector<std::string> texts_of(const std::vector<Program>& programs,
                                                       bool with_stage = false) {
  std::vector<std::string> texts;
  for (const Program& program : programs) texts.push_back(to_text(program, with_stage));
  return texts;
}
[[nodiscard]] inline std::vector<std::string> texts_of(const Schedule& schedule,
                                                       bool with_stage = false) {
  return texts_of(programs_of(schedule), with_stage);
}

// Returns `plan` with `accumulate` rounds per update.
[[nodiscard]] inline plan::Plan accumulating(plan::Plan plan, int accumulate) {
  plan.accumulate = accumulate;
  return plan;
}

// Calls see(op) for all ops of type `Kind` in all programs.
template <class Kind, class See>
void for_each(const Schedule& schedule, See see) {
  for (const Program& program : programs_of(schedule))
    for (const Op& op : program.ops)
      if (const auto* found = std::get_if<Kind>(&op)) see(*found);
}

[[nodiscard]] inline WeightVersion at_least_zero(std::int64_t version) {
  return {version < 0 ? 0 : version};
}

// Returns each program as the pictures in the headers show it, without weight versions.
[[nodiscard]] inline std::vector<std::string> pictures_of(const Schedule& schedule,
                                                          bool with_stage = false) {
  std::vector<std::string> pictures;
  for (const Program& program : programs_of(schedule)) {
    std::string picture;
    for (const Op& op : program.ops) {
      std::string text = to_text(op, with_stage);
      text = text.substr(0, text.find('@'));
      if (std::holds_alternative<Update>(op)) text = text.substr(0, text.find('U') + 1);
      picture += (picture.empty() ? "" : " ") + text;
    }
    pictures.push_back(picture);
  }
  return pictures;
}

}  // namespace pipedream::schedule
