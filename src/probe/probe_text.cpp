#include "probe/probe_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/cluster_file.h"
#include "core/text.h"
#include "report/cluster_table.h"
#include "report/table.h"

namespace pipedream::probe {
namespace {

using nlohmann::ordered_json;
using report::Align;
using report::Table;

const std::string& host(const Measured& measured, int number) {
  return measured.hosts[static_cast<std::size_t>(number)];
}

std::string between(const Measured& measured, const BetweenHosts& link) {
  return printable(host(measured, link.a)) + " and " + printable(host(measured, link.b));
}

// The lines of the table of links: where, which workers, latency, rates.
struct Line {
  std::string where;
  std::string pairs;
  Nanos latency{0};
  Rates rates;
};

std::vector<Line> lines_of(const Measured& measured) {
  std::vector<Line> lines;
  if (measured.inside)
    lines.push_back({"inside a host", "all pairs, each", measured.inside->latency,
                     measured.inside->slowest_pair});
  for (const BetweenHosts& link : measured.between) {
    lines.push_back({between(measured, link), "one pair", link.latency, link.one_pair});
    if (measured.workers_each > 1)
      lines.push_back({between(measured, link),
                       fmt::format("{} pairs together", measured.workers_each), link.latency,
                       link.all_pairs});
  }
  return lines;
}

std::string links_table(const Measured& measured) {
  Table table({{"links"},
               {"measured"},
               {"latency", Align::kRight},
               {"one way", Align::kRight},
               {"both ways", Align::kRight}});
  for (const Line& line : lines_of(measured))
    table.add_row({line.where, line.pairs, to_text(line.latency), to_text(line.rates.one_way),
                   to_text(line.rates.both_ways)});
  return table.text();
}

std::string group_of(const Averaged& averaged) {
  return averaged.inside_hosts ? fmt::format("the {} workers of each host", averaged.workers)
                               : fmt::format("all {} workers", averaged.workers);
}

Bandwidth speed_of(const Averaged& averaged) {
  return {static_cast<double>(averaged.bytes.count) / to_seconds(averaged.took)};
}

std::string averaging_table(const std::vector<Averaged>& all) {
  Table table({{"averaging by"},
               {"bytes", Align::kRight},
               {"took", Align::kRight},
               {"predicted", Align::kRight},
               {"bytes averaged", Align::kRight}});
  for (const Averaged& each : all)
    table.add_row({group_of(each), to_text(each.bytes), to_text(each.took), to_text(each.predicted),
                   to_text(speed_of(each))});
  return table.text();
}

std::string workers_table(const Probed& probed) {
  Table table({{"worker", Align::kRight},
               {"host"},
               {"memory", Align::kRight},
               {"measured speed", Align::kRight},
               {"speed in the file", Align::kRight}});
  const Measured& measured = probed.measured;
  for (std::size_t w = 0; w < measured.workers.size(); ++w)
    table.add_row({std::to_string(w),
                   printable(host(measured, static_cast<int>(w) / measured.workers_each)),
                   to_text(measured.workers[w].memory),
                   fmt::format("{:.3f}", measured.workers[w].speed / measured.workers[0].speed),
                   fmt::format("{:g}", probed.cluster.devices[w].speed)});
  return table.text();
}

ordered_json rates_json(const Rates& rates) {
  return {{"one_way_bytes_per_second", rates.one_way.bytes_per_second},
          {"both_ways_bytes_per_second", rates.both_ways.bytes_per_second}};
}

ordered_json averaged_json(const Averaged& averaged) {
  return {{"inside_hosts", averaged.inside_hosts},
          {"workers", averaged.workers},
          {"bytes", averaged.bytes.count},
          {"seconds", to_seconds(averaged.took)},
          {"predicted_seconds", to_seconds(averaged.predicted)}};
}

}  // namespace

std::string probe_table(const Probed& probed) {
  return links_table(probed.measured) + "\n" + averaging_table(probed.averaged) + "\n" +
         workers_table(probed) + "\nThe cluster:\n\n" + report::cluster_table(probed.cluster);
}

ordered_json probe_json(const Probed& probed) {
  const Measured& measured = probed.measured;
  ordered_json json{{"format", "pipedream-probe"},
                    {"version", 1},
                    {"hosts", measured.hosts},
                    {"workers_per_host", measured.workers_each}};
  if (measured.inside)
    json["inside_hosts"] = {{"latency_seconds", to_seconds(measured.inside->latency)},
                            {"slowest_pair", rates_json(measured.inside->slowest_pair)}};
  json["between_hosts"] = ordered_json::array();
  for (const BetweenHosts& link : measured.between)
    json["between_hosts"].push_back({{"hosts", {host(measured, link.a), host(measured, link.b)}},
                                     {"latency_seconds", to_seconds(link.latency)},
                                     {"one_pair", rates_json(link.one_pair)},
                                     {"all_pairs", rates_json(link.all_pairs)}});
  json["averaging"] = ordered_json::array();
  for (const Averaged& each : probed.averaged) json["averaging"].push_back(averaged_json(each));
  json["workers"] = ordered_json::array();
  for (const OfWorker& worker : measured.workers)
    json["workers"].push_back({{"memory_bytes", worker.memory.count},
                               {"relative_speed", worker.speed / measured.workers[0].speed},
                               {"unsteady", worker.unsteady}});
  json["remarks"] = remarks(measured, probed.averaged);
  json["cluster"] = report::cluster_json(probed.cluster);
  return json;
}

std::string cluster_file(const Probed& probed, const std::string& origin) {
  std::vector<std::string> lines{origin};
  const Measured& measured = probed.measured;
  for (std::size_t h = 0; h < measured.hosts.size(); ++h)
    lines.push_back(fmt::format("Workers {} to {} are on {}.",
                                h * static_cast<std::size_t>(measured.workers_each),
                                (h + 1) * static_cast<std::size_t>(measured.workers_each) - 1,
                                printable(measured.hosts[h])));
  for (const Line& line : lines_of(measured))
    lines.push_back(fmt::format("{}, {}: latency {}, {} one way, {} both ways at once.", line.where,
                                line.pairs, to_text(line.latency), to_text(line.rates.one_way),
                                to_text(line.rates.both_ways)));
  lines.push_back(
      "A level's bandwidth is the lower of one way and both ways: pipelines send both ways at "
      "once.");
  for (const Averaged& each : probed.averaged)
    lines.push_back(fmt::format("Averaging {} by {} took {}; this file predicts {}.",
                                to_text(each.bytes), group_of(each), to_text(each.took),
                                to_text(each.predicted)));
  std::string speeds;
  for (const OfWorker& worker : measured.workers)
    speeds += fmt::format(" {:.3f}", worker.speed / measured.workers[0].speed);
  lines.push_back("Measured speed of the workers, relative to worker 0:" + speeds + ".");
  for (const std::string& remark : remarks(measured, probed.averaged))
    lines.push_back(remark + ".");
  std::string text;
  for (const std::string& line : lines) text += "# " + line + "\n";
  return text + cluster::to_toml(probed.cluster);
}

}  // namespace pipedream::probe
