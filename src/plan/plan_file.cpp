#include "plan/plan_file.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "cluster/cluster.h"
#include "core/check.h"
#include "core/document.h"
#include "core/error.h"
#include "core/file.h"
#include "core/nearest.h"
#include "core/text.h"
#include "cost/depths.h"
#include "profile/device_names.h"
#include "profile/profile.h"

namespace pipedream::plan {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "pipedream-plan";
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMostMicrobatches = 1 << 20;
constexpr double kLargest = 1e30;  // the largest number of a prediction

// Returns the position of each layer in the network's order, by LayerId. Input layers do not count.
std::vector<std::int64_t> positions(const graph::Graph& graph) {
  std::vector<std::int64_t> position(graph.layers().size(), 0);
  std::int64_t next = 0;
  for (const LayerId layer : graph.order())
    if (!graph.layer(layer).is_input) position[layer.index()] = next++;
  return position;
}

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

// Returns one stage as JSON. `position` is the result of positions().
Json stage_json(const Stage& stage, const Predicted::OfStage& predicted, const graph::Graph& graph,
                const std::vector<std::int64_t>& position) {
  std::vector<std::string> names;
  std::int64_t first = INT64_MAX;
  std::int64_t last = 0;
  for (const LayerId layer : stage.layers) {
    names.push_back(graph.layer(layer).name);
    first = std::min(first, position[layer.index()]);
    last = std::max(last, position[layer.index()]);
  }
  std::vector<int> workers;
  for (const WorkerId worker : stage.workers) workers.push_back(worker.value);
  return {{"first", first},
          {"last", last},
          {"layers", names},
          {"replicas", workers.size()},
          {"workers", workers},
          {"depth", stage.depth},
          {"recompute", stage.recompute},
          {"seconds", predicted.seconds},
          {"weight_bytes", predicted.weights.count},
          {"memory_bytes", predicted.memory.count}};
}

}  // namespace

std::string to_json(const PlanFile& file, const graph::Graph& graph) {
  PD_CHECK(file.predicted.stages.size() == file.plan.stages.size());
  const std::vector<std::int64_t> position = positions(graph);
  Json stages = Json::array();
  for (std::size_t s = 0; s < file.plan.stages.size(); ++s)
    stages.push_back(stage_json(file.plan.stages[s], file.predicted.stages[s], graph, position));
  const Predicted& predicted = file.predicted;
  Json json{
      {"format", kFormat},
      {"version", kVersion},
      {"model", file.model},
      {"system", file.plan.system},
      {"config", config_text(file.plan)},
      {"workers", file.workers},
      {"stages", std::move(stages)},
      {"microbatches", file.plan.microbatches},
      {"predicted",
       {{"seconds_per_minibatch", predicted.seconds_per_minibatch},
        {"simulated_seconds_per_minibatch", or_null(predicted.simulated_seconds_per_minibatch)},
        {"samples_per_second", or_null(predicted.samples_per_second)},
        {"speedup_over_dp", or_null(predicted.speedup_over_dp)},
        {"bytes_per_minibatch", predicted.bytes_per_minibatch},
        {"drain_seconds", or_null(predicted.drain_seconds)}}},
      {"gap", or_null(predicted.gap)},
      {"planner_seconds", predicted.planner_seconds}};
  if (file.plan.accumulate > 1) json["accumulate"] = file.plan.accumulate;
  if (!file.device.empty()) json["device"] = file.device;
  if (!file.precision.empty()) json["precision"] = file.precision;
  if (file.batch) json["batch"] = *file.batch;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

LayerId layer_named(const Node& node, const graph::Graph& graph) {
  const std::string name = node.text();
  const auto found = graph.find(name);
  if (found) return *found;
  std::vector<std::string> names;
  for (const graph::Layer& layer : graph.layers()) names.push_back(layer.name);
  const std::string near = nearest(name, names);
  node.fail("the network has no layer '" + printable(name) + "'" +
            (near.empty() ? ": is the plan for another model?"
                          : " (did you mean '" + printable(near) + "'?)"));
}

// Checks `first` and `last` of every stage. Requires that the stages' layers are in the graph's
// order.
void check_ends(const Plan& plan, const std::vector<Node>& nodes, const graph::Graph& graph) {
  const std::vector<std::int64_t> position = positions(graph);
  const auto expect = [&](const Node& node, LayerId layer) {
    const std::int64_t wanted = position[layer.index()];
    const std::int64_t found = node.integer(0, INT32_MAX);
    if (found != wanted)
      node.fail("wanted " + std::to_string(wanted) + ", the position of layer '" +
                printable(graph.layer(layer).name) + "', found " + std::to_string(found));
  };
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    expect(nodes[s].at("first"), plan.stages[s].layers.front());
    expect(nodes[s].at("last"), plan.stages[s].layers.back());
  }
}

Stage read_stage(const Node& node, const graph::Graph& graph, int workers) {
  node.expect_keys({"first", "last", "layers", "replicas", "workers", "depth", "recompute",
                    "seconds", "weight_bytes", "memory_bytes"});
  Stage stage;
  for (const Node& layer : node.at("layers").elements())
    stage.layers.push_back(layer_named(layer, graph));
  if (stage.layers.empty()) node.at("layers").fail("wanted at least one layer");
  std::set<WorkerId> seen;
  for (const Node& worker : node.at("workers").elements()) {
    const WorkerId id{static_cast<std::int32_t>(worker.integer(0, workers - 1))};
    if (!seen.insert(id).second) worker.fail("this worker is in the list twice");
    stage.workers.push_back(id);
  }
  const auto replicas = static_cast<std::int64_t>(stage.workers.size());
  if (replicas == 0) node.at("workers").fail("wanted at least one worker");
  if (node.at("replicas").integer(1, cluster::kMostWorkers) != replicas)
    node.at("replicas").fail("wanted " + std::to_string(replicas) + ", the number of workers");
  stage.depth = static_cast<int>(node.at("depth").integer(1, cost::kMostInFlight));
  stage.recompute = node.at("recompute").boolean();
  return stage;
}

std::optional<double> number_or_null(const Node& node) {
  if (node.is_null()) return std::nullopt;
  return node.number(0, kLargest);
}

Predicted read_predicted(const Node& root) {
  Predicted predicted;
  const Node node = root.at("predicted");
  node.expect_keys({"seconds_per_minibatch", "simulated_seconds_per_minibatch",
                    "samples_per_second", "speedup_over_dp", "bytes_per_minibatch",
                    "drain_seconds"});
  predicted.seconds_per_minibatch = node.at("seconds_per_minibatch").number(0, kLargest);
  predicted.samples_per_second = number_or_null(node.at("samples_per_second"));
  predicted.speedup_over_dp = number_or_null(node.at("speedup_over_dp"));
  predicted.bytes_per_minibatch = node.at("bytes_per_minibatch").number(0, kLargest);
  // Files of earlier versions do not have these two.
  if (const auto simulated = node.find("simulated_seconds_per_minibatch"))
    predicted.simulated_seconds_per_minibatch = number_or_null(*simulated);
  if (const auto drain = node.find("drain_seconds"))
    predicted.drain_seconds = number_or_null(*drain);
  predicted.gap = number_or_null(root.at("gap"));
  predicted.planner_seconds = root.at("planner_seconds").number(0, kLargest);
  for (const Node& stage : root.at("stages").elements())
    predicted.stages.push_back({stage.at("seconds").number(0, kLargest),
                                stage.at("weight_bytes").byte_count(),
                                stage.at("memory_bytes").byte_count()});
  return predicted;
}

}  // namespace

PlanFile parse_plan(std::string_view content, const std::string& file, const graph::Graph& graph) {
  const Node root = parse_json(content, file);
  root.expect_format(kFormat, kVersion);
  root.expect_keys({"format", "version", "model", "system", "config", "workers", "stages",
                    "microbatches", "predicted", "gap", "planner_seconds", "device", "precision",
                    "batch", "accumulate"});
  PlanFile read;
  read.model = root.at("model").text();
  read.workers = static_cast<int>(root.at("workers").integer(1, cluster::kMostWorkers));
  if (const auto device = root.find("device")) read.device = profile::read_device(*device);
  if (const auto precision = root.find("precision"))
    read.precision = profile::read_precision(*precision);
  if (const auto batch = root.find("batch")) read.batch = batch->integer(1, profile::kLargestBatch);
  read.plan.system = root.at("system").text();
  read.plan.microbatches = static_cast<int>(root.at("microbatches").integer(1, kMostMicrobatches));
  if (const auto accumulate = root.find("accumulate"))
    read.plan.accumulate = static_cast<int>(accumulate->integer(1, kMostAccumulate));
  const std::vector<Node> stages = root.at("stages").elements();
  for (const Node& stage : stages)
    read.plan.stages.push_back(read_stage(stage, graph, read.workers));
  sort_layers(read.plan, graph);
  if (read.plan.stages.empty()) root.at("stages").fail("wanted at least one stage");
  try {
    (void)stage_of_each_layer(read.plan, graph);
  } catch (const BadValue& bad) {
    root.at("stages").fail(bad.what());
  }
  check_ends(read.plan, stages, graph);
  if (root.at("config").text() != config_text(read.plan))
    root.at("config").fail("wanted '" + config_text(read.plan) + "', the stages' replicas");
  read.predicted = read_predicted(root);
  return read;
}

PlanFile read_plan(const std::filesystem::path& path, const graph::Graph& graph) {
  return parse_plan(read_file(path), path.string(), graph);
}

}  // namespace pipedream::plan
