// A plan: which layers run on which workers (docs/formats.md#plan).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "graph/graph.h"

namespace pipedream::plan {

// Layers that run together on one worker, or on several workers, which are replicas. Replicas take
// minibatches in turn or share each item, depending on the system.
struct Stage {
  std::vector<LayerId> layers;    // producers first; input layers are in no stage
  std::vector<WorkerId> workers;  // one per replica; at least one
  int depth = 1;                  // the most items in flight per replica
  bool recompute = false;         // keeps only what it receives, and runs its forward again
};

// The largest Plan::accumulate.
inline constexpr int kMostAccumulate = 1024;

// The stages in the order in which a minibatch passes them. Values flow to later stages only.
struct Plan {
  std::vector<Stage> stages;
  std::string system;    // name of the system that the plan is for, such as "pipedream"
  int microbatches = 1;  // per minibatch
  // Rounds whose gradients make one update: one minibatch for each replica of a stage, or the
  // minibatches that replicas share (docs/systems.md#accumulation).
  int accumulate = 1;

  [[nodiscard]] const Stage& stage(StageId id) const { return stages.at(id.index()); }
};

// Returns the worker that runs `stage` for `minibatch`, forward and backward, if replicas take
// turns.
[[nodiscard]] WorkerId worker_of(const Plan& plan, StageId stage, std::int64_t minibatch);

// Sorts the layers of each stage by the order of `graph`, producers first.
void sort_layers(Plan& plan, const graph::Graph& graph);

// Returns whether some stage has several workers.
[[nodiscard]] bool has_replicas(const Plan& plan);

// Returns the number of replicas of each stage as text, such as "15-1" (docs/glossary.md: config).
[[nodiscard]] std::string config_text(const Plan& plan);

// Returns one more than the highest worker that the plan names.
[[nodiscard]] int worker_count(const Plan& plan);

// Returns the stage of each layer, indexed by LayerId. Input layers are in no stage; their entry is
// 0 and means nothing. Throws BadValue unless the stages have every other layer exactly once, no
// layer that is not in `graph`, and no value that flows to an earlier stage.
[[nodiscard]] std::vector<StageId> stage_of_each_layer(const Plan& plan, const graph::Graph& graph);

}  // namespace pipedream::plan
