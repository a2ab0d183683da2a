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

// What was predicted when the plan was made. Nothing that runs a plan depends on it.
struct Predicted {
  struct OfStage {
    double seconds = 0;  // one minibatch on one replica: forward, backward, update
    Bytes weights;
    Bytes memory;
    friend bool operator==(const OfStage&, const OfStage&) = default;
  };
  double seconds_per_minibatch = 0;
  std::optional<double> samples_per_second;  // where the batch is known
  std::optional<double> speedup_over_dp;     // where data parallelism fits the memory
  double bytes_per_minibatch = 0;
  std::optional<double> gap;  // by which the best plan can be faster at most, where that is known
  double planner_seconds = 0;
  std::vector<OfStage> stages;
  friend bool operator==(const Predicted&, const Predicted&) = default;
};

struct PlanFile {
  std::string model;
  int workers = 0;  // of the cluster that it was made for
  // What its workers compute on and in, as in a profile, without an index; empty: not said.
  std::string device{};
  std::string precision{};
  Plan plan;
  Predicted predicted;
};

[[nodiscard]] std::string to_json(const PlanFile& file, const graph::Graph& graph);

// Layers are found by name in `graph`. Throws BadFile with file and place for anything that is not
// a plan for that network: what to_json wrote is read back as the same.
[[nodiscard]] PlanFile parse_plan(std::string_view content, const std::string& file,
                                  const graph::Graph& graph);
// The same from a file; also throws IoError.
[[nodiscard]] PlanFile read_plan(const std::filesystem::path& path, const graph::Graph& graph);

}  // namespace pipedream::plan
