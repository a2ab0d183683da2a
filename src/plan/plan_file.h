// The plan file (JSON; docs/formats.md#plan), which is also what `plan --json` prints.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"

namespace pipedream::plan {

// What was predicted when the plan was made, for people to read. Nothing that runs a plan depends
// on it.
struct Predicted {
  struct OfStage {
    double seconds = 0;  // forward, backward and update of one minibatch on one replica
    Bytes weights;
    Bytes memory;  // of one worker
    friend bool operator==(const OfStage&, const OfStage&) = default;
  };
  double seconds_per_minibatch = 0;
  // The same in simulation; nullopt if the plan was not simulated.
  std::optional<double> simulated_seconds_per_minibatch;
  std::optional<double> samples_per_second;  // nullopt if the batch size is not known
  std::optional<double> speedup_over_dp;     // nullopt if data parallelism does not fit the memory
  double bytes_per_minibatch = 0;            // sent by all workers together
  // What it costs to drain the pipeline once and to fill it again; nullopt if not known.
  std::optional<double> drain_seconds;
  // By how much the best plan can be faster at most, as a fraction; nullopt if not known.
  std::optional<double> gap;
  double planner_seconds = 0;  // how long planning took
  std::vector<OfStage> stages;
  friend bool operator==(const Predicted&, const Predicted&) = default;
};

struct PlanFile {
  std::string model;
  int workers = 0;          // workers of the cluster that the plan was made for
  std::string device{};     // device that the plan is for, "cpu" or "cuda"; empty if not known
  std::string precision{};  // precision that the plan is for, such as "fp32"; empty if not known
  // Samples of the minibatches that the prediction is for; nullopt if not known.
  std::optional<std::int64_t> batch{};
  Plan plan;
  Predicted predicted;
};

// Returns the content of the file. Requires one entry of `predicted.stages` for each stage.
[[nodiscard]] std::string to_json(const PlanFile& file, const graph::Graph& graph);

// Parses `content`, and finds layers by name in `graph`. The text of to_json() gives an equal
// PlanFile. Throws BadFile, which names `file` and the place in it, if `content` is not a plan for
// the network of `graph`.
[[nodiscard]] PlanFile parse_plan(std::string_view content, const std::string& file,
                                  const graph::Graph& graph);
// Reads and parses the file at `path`. Throws BadFile as parse_plan() does, and IoError if the file
// cannot be read.
[[nodiscard]] PlanFile read_plan(const std::filesystem::path& path, const graph::Graph& graph);

}  // namespace pipedream::plan
