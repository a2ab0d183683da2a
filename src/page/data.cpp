#include "page/data.h"

#include <algorithm>
#include <map>

#include "page/columns.h"
#include "page/curves.h"
#include "report/simulation_table.h"

namespace pipedream::page {
namespace {

using nlohmann::ordered_json;

// The bytes of activations that each pair of stages exchanges per minibatch. Their gradients are of
// the same size.
ordered_json transfers_json(const plan::Plan& plan, const graph::Graph& graph) {
  const std::vector<StageId> stage_of = plan::stage_of_each_layer(plan, graph);
  std::map<std::pair<StageId, StageId>, Bytes> bytes;
  for (const graph::Value& value : graph.values()) {
    if (graph.layer(value.producer).is_input) continue;
    const StageId from = stage_of[value.producer.index()];
    std::vector<StageId> users;
    for (const LayerId consumer : value.consumers) users.push_back(stage_of[consumer.index()]);
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    for (const StageId to : users)
      if (to != from) bytes[{from, to}] += value.bytes;
  }
  ordered_json transfers = ordered_json::array();
  for (const auto& [ends, sum] : bytes)
    transfers.push_back(
        {{"from", ends.first.value}, {"to", ends.second.value}, {"bytes", sum.count}});
  return transfers;
}

ordered_json stage_json(const plan::Stage& stage, const profile::Profile& profile) {
  ordered_json layers = ordered_json::array();
  ordered_json workers = ordered_json::array();
  Nanos time{0};
  Bytes weights;
  for (const LayerId layer : stage.layers) {
    const profile::LayerCost& cost = profile.cost(layer);
    layers.push_back(profile.graph.layer(layer).name);
    time += cost.forward + cost.backward;
    weights += cost.weights;
  }
  for (const WorkerId worker : stage.workers) workers.push_back(worker.value);
  return {{"layers", layers},
          {"workers", workers},
          {"seconds", to_seconds(time)},
          {"weight_bytes", weights.count},
          {"recompute", stage.recompute}};
}

// The accounts of results, with the causes of idle time beside busy time and without recomputation
// in it.
ordered_json accounts_json(const ordered_json& result) {
  ordered_json accounts = ordered_json::array();
  if (!result.is_object()) return accounts;
  const auto workers = result.find("workers");
  if (workers == result.end() || !workers->is_array()) return accounts;
  for (const ordered_json& worker : *workers) {
    if (!worker.is_object() || !worker.contains("idle")) continue;
    ordered_json account = worker["idle"];
    account["worker"] = worker.value("worker", 0);
    account["recompute"] = worker.value("recompute", 0.0);
    account["busy"] = worker.value("busy", 0.0) - worker.value("recompute", 0.0);
    accounts.push_back(std::move(account));
  }
  return accounts;
}

// The number of workers that a plan uses.
std::size_t workers_of(const ordered_json& plan) {
  std::size_t workers = 0;
  if (!plan.is_object()) return workers;
  for (const ordered_json& stage : plan.value("stages", ordered_json::array()))
    for (const ordered_json& worker : stage.value("workers", ordered_json::array()))
      workers = std::max(workers, worker.get<std::size_t>() + 1);
  return workers;
}

}  // namespace

ordered_json plan_json(const plan::Plan& plan, const profile::Profile& profile) {
  ordered_json stages = ordered_json::array();
  for (const plan::Stage& stage : plan.stages) stages.push_back(stage_json(stage, profile));
  return {{"system", plan.system},
          {"config", plan::config_text(plan)},
          {"microbatches", plan.microbatches},
          {"stages", stages},
          {"transfers", transfers_json(plan, profile.graph)}};
}

ordered_json cluster_json(const cluster::Cluster& cluster) {
  std::vector<int> hosts = cluster::hosts(cluster);
  if (hosts.empty()) hosts.resize(cluster.devices.size());
  ordered_json memory = ordered_json::array();
  ordered_json speed = ordered_json::array();
  for (const cluster::Device& device : cluster.devices) {
    memory.push_back(device.memory.count);
    speed.push_back(device.speed);
  }
  return {{"name", cluster.name}, {"hosts", hosts}, {"memory", memory}, {"speed", speed}};
}

ordered_json links_json(const systems::Simulated& simulated, const cluster::Cluster& cluster) {
  ordered_json links = ordered_json::array();
  for (const simulate::LinkTraffic& link : simulated.links)
    links.push_back({{"name", report::link_name(link, cluster)},
                     {"bandwidth", cluster.levels[link.level].bandwidth.bytes_per_second},
                     {"speed", to_text(cluster.levels[link.level].bandwidth)},
                     {"out", link.out},
                     {"in", link.in},
                     {"seconds", to_seconds(simulated.summary.length)},
                     {"minibatches", simulated.minibatches}});
  return links;
}

ordered_json others_json(const systems::SimulatedChoice& choice) {
  ordered_json others = ordered_json::array();
  for (const systems::SimulatedCandidate& candidate : choice.candidates) {
    ordered_json other{{"system", candidate.system->name}};
    if (const auto* refusal = std::get_if<plan::Refusal>(&candidate.result)) {
      other["refused"] = refusal->why;
    } else {
      other["config"] = plan::config_text(std::get<systems::Planned>(candidate.result).plan);
      const auto rate = candidate.simulated->samples_per_second;
      other["samples_per_second"] = rate ? ordered_json(*rate) : ordered_json();
    }
    others.push_back(std::move(other));
  }
  return others;
}

ordered_json to_json(const Run& run) {
  ordered_json json{{"name", run.name},
                    {"kind", run.is_measured ? "measured" : "simulated"},
                    {"workers", workers_of(run.plan)},
                    {"result", run.result}};
  const auto add = [&](const char* key, const ordered_json& value) {
    if (!value.empty()) json[key] = value;
  };
  add("plan", run.plan);
  add("cluster", run.cluster);
  add("links", run.links);
  add("accounts", accounts_json(run.result));
  add("others", run.others);
  if (!run.metrics.empty()) json["curves"] = curves_of(run.metrics);
  ordered_json timelines = ordered_json::array();
  for (const Named& each : run.timelines)
    timelines.push_back(timeline_columns(each.timeline, each.name));
  add("timelines", timelines);
  for (const Named& each : run.timelines)
    if (const ordered_json memory = memory_columns(each.timeline); !memory.empty())
      json["memory"] = memory;
  return json;
}

}  // namespace pipedream::page
