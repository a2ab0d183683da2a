#include "report/cluster_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/table.h"

namespace pipedream::report {

std::string cluster_table(const cluster::Cluster& cluster) {
  Table levels({{"level"},
                {"joins", Align::kRight},
                {"of"},
                {"bandwidth", Align::kRight},
                {"latency", Align::kRight},
                {"each link belongs to"}});
  for (std::size_t k = 0; k < cluster.levels.size(); ++k) {
    const cluster::Level& level = cluster.levels[k];
    const int inside = cluster.workers_per_component(k);
    const std::string component =
        k == 0 ? "worker" : fmt::format("{} of {} workers", cluster.levels[k - 1].name, inside);
    levels.add_row({level.name, std::to_string(level.count), component, to_text(level.bandwidth),
                    to_text(level.latency),
                    level.shared && inside > 1 ? "the group: its workers share it" : "a worker"});
  }
  Table devices({{"workers"}, {"memory", Align::kRight}, {"speed", Align::kRight}});
  for (std::size_t i = 0; i < cluster.devices.size();) {
    std::size_t end = i;
    while (end < cluster.devices.size() && cluster.devices[end] == cluster.devices[i]) ++end;
    devices.add_row({end - i == 1 ? std::to_string(i) : fmt::format("{}–{}", i, end - 1),
                     to_text(cluster.devices[i].memory),
                     fmt::format("{:g}", cluster.devices[i].speed)});
    i = end;
  }
  return fmt::format("{}: {} worker{}\n\n{}\n{}", cluster.name, cluster.workers(),
                     cluster.workers() == 1 ? "" : "s", levels.text(), devices.text());
}

nlohmann::ordered_json cluster_json(const cluster::Cluster& cluster) {
  using nlohmann::ordered_json;
  ordered_json json{{"format", "pipedream-cluster"},
                    {"version", 1},
                    {"name", cluster.name},
                    {"workers", cluster.workers()}};
  auto levels = ordered_json::array();
  for (const cluster::Level& level : cluster.levels)
    levels.push_back({{"name", level.name},
                      {"count", level.count},
                      {"bytes_per_second", level.bandwidth.bytes_per_second},
                      {"latency_seconds", to_seconds(level.latency)},
                      {"shared", level.shared}});
  json["levels"] = levels;
  auto devices = ordered_json::array();
  for (const cluster::Device& device : cluster.devices)
    devices.push_back({{"memory_bytes", device.memory.count}, {"speed", device.speed}});
  json["devices"] = devices;
  return json;
}

}  // namespace pipedream::report
