// Which layers run on which workers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "graph/graph.h"

namespace pipedream::plan {

// A run of layers on one worker, or on several that take minibatches in turn (replicas).
struct Stage {
  std::vector<LayerId> layers;    // producers first; input layers belong to no stage
  std::vector<WorkerId> workers;  // one per replica; at least one
  int depth = 1;                  // items in flight per replica, at most
  bool recompute = false;         // keeps only what it received, and runs its forward again
};

// Stages in the order in which a minibatch passes them: values flow to later stages only.
struct Plan {
  std::vector<Stage> stages;
  std::string system;    // whose schedule and weight rule it is for: "pipedream"
  int microbatches = 1;  // that each minibatch is cut into

  [[nodiscard]] const Stage& stage(StageId id) const { return stages.at(id.index()); }
};

// The worker that runs `stage` for a minibatch where replicas take turns. A minibatch's backward
// runs where its forward ran.
[[nodiscard]] WorkerId worker_of(const Plan& plan, StageId stage, std::int64_t minibatch);

// Puts each stage's layers, which must be the graph's, into its order, producers first.
void sort_layers(Plan& plan, const graph::Graph& graph);

// Whether some stage has several workers.
[[nodiscard]] bool has_replicas(const Plan& plan);

// The replicas of each stage: "15-1".
[[nodiscard]] std::string config_text(const Plan& plan);

// The number of workers the plan uses: one more than the highest it names.
[[nodiscard]] int worker_count(const Plan& plan);

// The stage of each layer, by layer; input layers get stage 0, which means nothing for them.
// Throws BadValue unless the stages hold every other layer exactly once, and nothing else, and no
// value flows backwards.
[[nodiscard]] std::vector<StageId> stage_of_each_layer(const Plan& plan, const graph::Graph& graph);

}  // namespace pipedream::plan
