#include "cluster/cluster_file.h"

#include <set>

#include <fmt/format.h>

#include "core/document.h"
#include "core/file.h"

namespace pipedream::cluster {
namespace {

constexpr std::string_view kFormat = "pipedream-cluster";
constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMostLevels = 8;
constexpr double kSlowest = 1e-3;
constexpr double kFastest = 1e3;

Level read_level(const Node& node) {
  node.expect_keys({"name", "count", "bandwidth", "latency", "shared"});
  Level level;
  level.name = node.at("name").text();
  level.count = static_cast<int>(node.at("count").integer(1, kMostWorkers));
  level.bandwidth = node.at("bandwidth").written_bandwidth();
  if (const auto latency = node.find("latency")) level.latency = latency->written_duration();
  if (const auto shared = node.find("shared")) level.shared = shared->boolean();
  return level;
}

std::vector<Level> read_levels(const Node& node) {
  std::vector<Level> levels;
  std::int64_t workers = 1;
  for (const Node& element : node.elements()) {
    levels.push_back(read_level(element));
    workers *= levels.back().count;
    if (workers > kMostWorkers)
      element.fail(
          fmt::format("wanted at most {} workers in all, found {}", kMostWorkers, workers));
  }
  if (levels.empty() || levels.size() > kMostLevels)
    node.fail(fmt::format("wanted 1 to {} levels, found {}", kMostLevels, levels.size()));
  return levels;
}

// Reads the keys that [device] and [[worker]] have in common into `device`.
void read_device(const Node& node, Device& device) {
  if (const auto memory = node.find("memory")) {
    device.memory = memory->written_bytes();
    if (device.memory.count == 0) memory->fail("wanted more than 0 bytes of memory");
  }
  if (const auto speed = node.find("speed")) device.speed = speed->number(kSlowest, kFastest);
}

void read_exceptions(const Node& list, std::vector<Device>& devices) {
  std::set<std::int64_t> seen;
  for (const Node& node : list.elements()) {
    node.expect_keys({"id", "memory", "speed"});
    const auto last = static_cast<std::int64_t>(devices.size()) - 1;
    const std::int64_t id = node.at("id").integer(0, last);
    if (!seen.insert(id).second)
      node.at("id").fail(fmt::format("worker {} is described twice", id));
    if (!node.find("memory") && !node.find("speed"))
      node.fail("wanted the worker's memory, speed or both, found neither");
    read_device(node, devices[static_cast<std::size_t>(id)]);
  }
}

std::string toml_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

Cluster parse_cluster(std::string_view content, const std::string& file) {
  const Node root = parse_toml(content, file);
  root.expect_format(kFormat, kVersion);
  root.expect_keys({"format", "version", "name", "level", "device", "worker"});
  Cluster cluster;
  cluster.name = root.at("name").text();
  cluster.levels = read_levels(root.at("level"));

  const Node common = root.at("device");
  common.expect_keys({"memory", "speed"});
  (void)common.at("memory");  // required: [device] has no default for it
  Device device;
  read_device(common, device);
  const auto workers =
      static_cast<std::size_t>(cluster.workers_per_component(cluster.levels.size()));
  cluster.devices.assign(workers, device);
  if (const auto exceptions = root.find("worker")) read_exceptions(*exceptions, cluster.devices);
  return cluster;
}

Cluster read_cluster(const std::filesystem::path& path) {
  return parse_cluster(read_file(path), path.string());
}

std::string to_toml(const Cluster& cluster) {
  std::string out = fmt::format("format = \"{}\"\nversion = {}\nname = {}\n", kFormat, kVersion,
                                toml_string(cluster.name));
  for (const Level& level : cluster.levels)
    out += fmt::format(
        "\n[[level]]\nname = {}\ncount = {}\nbandwidth = \"{}\"\nlatency = \"{}\"\nshared = {}\n",
        toml_string(level.name), level.count, to_exact_text(level.bandwidth),
        to_exact_text(level.latency), level.shared);
  const Device& first = cluster.devices.front();
  const auto fields = [](const Device& device) {
    return fmt::format("memory = \"{}\"\nspeed = {:#}\n", to_exact_text(device.memory),
                       device.speed);
  };
  out += "\n[device]\n" + fields(first);
  for (std::size_t i = 1; i < cluster.devices.size(); ++i)
    if (cluster.devices[i] != first)
      out += fmt::format("\n[[worker]]\nid = {}\n{}", i, fields(cluster.devices[i]));
  return out;
}

}  // namespace pipedream::cluster
