#include "plan/plan.h"

#include <algorithm>

#include "core/error.h"

namespace pipedream::plan {

WorkerId worker_of(const Plan& plan, StageId stage, std::int64_t minibatch) {
  const auto& workers = plan.stage(stage).workers;
  return workers[static_cast<std::size_t>(minibatch) % workers.size()];
}

void sort_layers(Plan& plan, const graph::Graph& graph) {
  const std::vector<std::size_t> places = places_in_order(graph);
  for (Stage& stage : plan.stages)
    std::sort(stage.layers.begin(), stage.layers.end(),
              [&](LayerId a, LayerId b) { return places[a.index()] < places[b.index()]; });
}

bool has_replicas(const Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [](const Stage& stage) { return stage.workers.size() > 1; });
}

std::string config_text(const Plan& plan) {
  std::string text;
  for (const Stage& stage : plan.stages)
    text += (text.empty() ? "" : "-") + std::to_string(stage.workers.size());
  return text;
}

int worker_count(const Plan& plan) {
  int count = 0;
  for (const Stage& stage : plan.stages)
    for (const WorkerId worker : stage.workers) count = std::max(count, worker.value + 1);
  return count;
}

std::vector<StageId> stage_of_each_layer(const Plan& plan, const graph::Graph& graph) {
  constexpr StageId kNoStage{-1};
  std::vector<StageId> stage_of(graph.layers().size(), kNoStage);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    for (const LayerId layer : plan.stages[s].layers) {
      if (layer.index() >= stage_of.size())
        throw BadValue("stage " + std::to_string(s) + " has a layer " +
                       std::to_string(layer.value) + ", but the last of the graph is " +
                       std::to_string(static_cast<std::int64_t>(stage_of.size()) - 1));
      if (graph.layer(layer).is_input)
        throw BadValue("layer '" + graph.layer(layer).name + "' is an input and in a stage: " +
                       "the stages that use it read it themselves");
      if (stage_of[layer.index()] != kNoStage)
        throw BadValue("layer '" + graph.layer(layer).name + "' is in two stages");
      stage_of[layer.index()] = id_at<StageId>(s);
    }
  }
  for (std::size_t i = 0; i < stage_of.size(); ++i) {
    const graph::Layer& layer = graph.layers()[i];
    if (layer.is_input) stage_of[i] = StageId{0};
    if (stage_of[i] == kNoStage) throw BadValue("layer '" + layer.name + "' is in no stage");
  }
  for (const graph::Value& value : graph.values()) {
    for (const LayerId user : value.consumers) {
      const bool backwards = stage_of[user.index()] < stage_of[value.producer.index()];
      if (backwards && !graph.layer(value.producer).is_input)
        throw BadValue("layer '" + graph.layer(user).name + "' is in an earlier stage than '" +
                       graph.layer(value.producer).name + "', whose output it uses");
    }
  }
  return stage_of;
}

}  // namespace pipedream::plan
